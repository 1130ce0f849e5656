import type { MetricsAccess } from '../arguments.ts'
import { tell } from '../ask.ts'
import type { Visit } from '../findings.ts'

const where = 'GET /metrics'

/** Whether the nodes of the operator's own store have the same version and the same settings. */
export async function checkNodes({ ask, note }: Visit, { token }: MetricsAccess): Promise<void> {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await ask('/metrics', { headers })
  if (answer.status !== 200) {
    note('metrics_closed', where, tell(answer))
    return
  }
  for (const { node, setting } of labelsOf('kiosk402_nodes_disagree', answer.text)) {
    note('nodes_disagree', where, `${setting} at ${node}`)
  }
  const nodes = labelsOf('kiosk402_nodes', answer.text)
  if (new Set(nodes.map(({ version }) => version)).size > 1) {
    for (const { node, version } of nodes) note('versions_differ', where, `${node}: ${version}`)
  }
}

/** The labels of each sample of a metric, in the Prometheus text format. */
function labelsOf(metric: string, page: string): Readonly<Record<string, string>>[] {
  const samples = page.split('\n').filter((line) => line.startsWith(`${metric}{`))
  return samples.map((line) =>
    Object.fromEntries(
      [...line.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    ),
  )
}
