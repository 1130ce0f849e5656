import { type Fault, noterOf, tell, type Visit } from './visit.ts'

export const nodeFaults = {
  metrics_closed: {
    level: 'note',
    what: 'The metrics are closed to the doctor, so it knows nothing about the nodes of the store.',
    mend: 'Set METRICS_TOKEN to that of the store, or omit --metrics.',
  },
  nodes_disagree: {
    level: 'warn',
    what: 'A node differs in a setting that must agree, so buyers may see two prices, or orders follow two rules.',
    mend: 'Give all nodes the same value (docs/operators/configuration.md, "Settings that must agree"), and restart those that differ.',
  },
  versions_differ: {
    level: 'warn',
    what: 'The nodes of the store have different versions.',
    mend: 'Finish the upgrade, or stop the nodes with the other version.',
  },
} as const satisfies Readonly<Record<string, Fault>>

/** Access to the metrics; no token is needed if they are open to this machine. */
export interface MetricsAccess {
  readonly token: string | undefined
}

const note = noterOf(nodeFaults)
const where = 'GET /metrics'

/** Whether the nodes of the operator's own store have the same version and the same settings. */
export async function checkNodes(visit: Visit, { token }: MetricsAccess): Promise<void> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const answer = await visit.ask('/metrics', { headers })
  if (answer.status !== 200) return note(visit, 'metrics_closed', where, tell(answer))
  for (const { node, setting } of labelsOf('kiosk402_nodes_disagree', answer.text)) {
    note(visit, 'nodes_disagree', where, `${setting} at ${node}`)
  }
  const nodes = labelsOf('kiosk402_nodes', answer.text)
  if (new Set(nodes.map(({ version }) => version)).size < 2) return undefined
  for (const { node, version } of nodes) {
    note(visit, 'versions_differ', where, `${node}: ${version}`)
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
