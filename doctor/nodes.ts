import { add } from './faults.ts'
import { tell, type Visit } from './visit.ts'

/** Access to the metrics; no token is needed if they are open to this machine. */
export interface MetricsAccess {
  readonly token: string | undefined
}

const where = 'GET /metrics'

/** Whether the nodes of the operator's own store have the same version and the same settings. */
export async function checkNodes(visit: Visit, { token }: MetricsAccess): Promise<void> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const answer = await visit.ask('/metrics', { headers })
  if (answer.status !== 200) return add(visit, 'metrics_closed', where, tell(answer))
  for (const { node, setting } of labelsOf('kiosk402_nodes_disagree', answer.text)) {
    add(visit, 'nodes_disagree', where, `${setting} at ${node}`)
  }
  const nodes = labelsOf('kiosk402_nodes', answer.text)
  if (new Set(nodes.map(({ version }) => version)).size < 2) return undefined
  for (const { node, version } of nodes) {
    add(visit, 'versions_differ', where, `${node}: ${version}`)
  }
  return undefined
}

/** The labels of each sample of a metric, in the Prometheus text format. */
function labelsOf(metric: string, page: string): Readonly<Record<string, string>>[] {
  const samples = page.split('\n').filter((line) => line.startsWith(`${metric}{`))
  return samples.map((line) => {
    const labels = [...line.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)]
    return Object.fromEntries(labels.map(([, name = '', value = '']) => [name, value]))
  })
}
