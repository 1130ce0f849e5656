import { add } from './faults.ts'
import { type Answer, isRecord, type MetricsAccess, recordAt, tell, type Visit } from './visit.ts'

const manifestPath = '/.well-known/x402'
const manifest = `GET ${manifestPath}`
/** With older signals, readers consider a store down (x402-signals). Milliseconds. */
const freshMs = 5 * 60_000
const clockMs = 10_000

/** Whether the store answers at all, over HTTPS, with a clock that is right. Returns whether it answers. */
export async function checkReach(visit: Visit): Promise<boolean> {
  const sentAt = Date.now()
  const { failed, headers } = await visit.ask(manifestPath)
  if (failed !== undefined) {
    add(visit, 'unreachable', visit.origin, failed)
    return false
  }
  const { protocol, hostname } = new URL(visit.publicOrigin)
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol === 'http:' && !isHere) add(visit, 'not_https', visit.publicOrigin)
  // A shared cache returns an answer with the Date on which the store made it, and its Age.
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? '0'
  const storeTime = Date.parse(headers.get('date') ?? '') + Number(age) * 1_000
  // Any time between the request and the answer is right. Date and Age have whole seconds.
  const off = Math.max(sentAt - storeTime - 2_000, storeTime - Date.now())
  if (off > clockMs) add(visit, 'clock_off', 'Date', `${Math.round(off / 1_000)} s`)
  return true
}

/** What is at a path where buyers and indexes look for such JSON; undefined, with a finding, without it. */
export async function documentAt(
  visit: Visit,
  path: string,
  isWhole: (json: Readonly<Record<string, unknown>>) => boolean,
): Promise<Answer | undefined> {
  const answer = await visit.ask(path, { headers: { accept: 'application/json' } })
  if (answer.status === 200 && isWhole(recordAt(answer.json))) return answer
  add(visit, 'document_missing', `GET ${path}`, tell(answer))
  return undefined
}

/** Checks the manifest. Returns the paths of its resources that belong to this store. */
export async function checkManifest(visit: Visit): Promise<readonly string[]> {
  const answer = await documentAt(visit, manifestPath, (json) => Array.isArray(json['resources']))
  if (answer === undefined) return []
  const signals = recordAt(answer.json, 'signals')
  const { agent_action: action, last_updated: updated } = signals
  const age = Math.abs(Date.now() - Date.parse(String(updated)))
  if (action === 'stop') add(visit, 'signals_stop', manifest, signals)
  if (!(age < freshMs)) add(visit, 'signals_stale', manifest, updated)
  const resources = recordAt(answer.json)['resources'] as readonly unknown[]
  const paths = resources.flatMap((entry) => pathOf(visit, entry) ?? [])
  // Paths with parameters lead nowhere.
  return [...new Set(paths)].filter((path) => !/\{|%7B/i.test(path))
}

/** Path and query of a resource, which is then requested at the examined origin. */
function pathOf(visit: Visit, entry: unknown): string | undefined {
  const named = isRecord(entry) ? (entry['url'] ?? entry['resource']) : entry
  const url = typeof named === 'string' ? URL.parse(named) : null
  if (url?.origin === visit.publicOrigin || url?.origin === visit.origin) {
    return url.pathname + url.search
  }
  add(visit, 'resource_wrong', manifest, named)
  return undefined
}

/** Checks the keys that verify receipts. */
export async function checkKeys(visit: Visit): Promise<void> {
  const path = '/.well-known/jwks.json'
  const isWhole = ({ keys }: Readonly<Record<string, unknown>>) =>
    Array.isArray(keys) && keys.length > 0
  const answer = await documentAt(visit, path, isWhole)
  const keys = (recordAt(answer?.json)['keys'] ?? []) as readonly unknown[]
  if (keys.some((key) => isRecord(key) && ('d' in key || 'k' in key)))
    add(visit, 'keys_private', `GET ${path}`)
}

/** Whether the MCP server lists its tools. */
export async function checkMcp(visit: Visit): Promise<void> {
  const answer = await visit.ask('/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  const { status, text } = answer
  if (status === 404 || status === 410) add(visit, 'document_missing', '/mcp', tell(answer))
  else if (status !== 200 || !/"tools":\s*\[\s*\{/.test(text))
    add(visit, 'mcp_broken', '/mcp', tell(answer))
}

const where = 'GET /metrics'

/** Whether the nodes of the operator's own store have the same version and the same settings. */
export async function checkNodes(visit: Visit, { token }: MetricsAccess): Promise<void> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const answer = await visit.ask('/metrics', { headers })
  if (answer.status !== 200) add(visit, 'metrics_closed', where, tell(answer))
  const nodes = labelsOf('kiosk402_nodes', answer.text)
  const areMixed = new Set(nodes.map(({ version }) => version)).size > 1
  const differing = [
    ...labelsOf('kiosk402_nodes_disagree', answer.text),
    ...(areMixed ? nodes : []),
  ]
  for (const { node, setting, version } of differing)
    add(visit, 'nodes_disagree', where, `${setting ?? version} at ${node}`)
}

/** The labels of each sample of a metric, in the Prometheus text format. */
function labelsOf(metric: string, page: string): Readonly<Record<string, string>>[] {
  const samples = page.split('\n').filter((line) => line.startsWith(`${metric}{`))
  return samples.map((line) => {
    const labels = [...line.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)]
    return Object.fromEntries(labels.map(([, name = '', value = '']) => [name, value]))
  })
}
