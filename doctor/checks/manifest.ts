import { type Answer, isRecord, recordAt, tell } from '../ask.ts'
import type { Visit } from '../findings.ts'

/** With older signals, readers consider a store down (x402-signals). Milliseconds. */
const freshMs = 5 * 60_000

/** Checks the manifest. Returns the paths of its resources that belong to this store. */
export async function checkManifest(visit: Visit): Promise<readonly string[]> {
  const { ask, note } = visit
  const where = 'GET /.well-known/x402'
  const answer = await ask('/.well-known/x402')
  if (answer.status !== 200) {
    note('manifest_missing', where, tell(answer))
    return []
  }
  const { json } = answer
  if (!isRecord(json) || !Array.isArray(json['resources'])) {
    note('manifest_unreadable', where)
    return []
  }
  if (json['version'] !== 1) note('manifest_version', where, json['version'])
  for (const policy of ['fulfillment_policy', 'refund_policy']) {
    if (!isRecord(json[policy])) note('policy_missing', where, policy)
  }
  checkSignals(visit, where, answer)
  return json['resources'].flatMap((entry: unknown) => pathOf(visit, where, entry) ?? [])
}

function checkSignals({ note }: Visit, where: string, { json }: Answer): void {
  const { agent_action: action, last_updated: updated } = recordAt(json, 'signals')
  if (action === undefined || typeof updated !== 'string') {
    note('signals_missing', where)
    return
  }
  if (action === 'stop') note('signals_stop', where, recordAt(json, 'signals'))
  const age = Date.now() - Date.parse(updated)
  if (!(Math.abs(age) < freshMs)) note('signals_stale', where, updated)
}

/** Path and query of a resource, which is then requested at the examined origin. */
function pathOf(visit: Visit, where: string, entry: unknown): string | undefined {
  const named = isRecord(entry) ? (entry['url'] ?? entry['resource']) : entry
  const url = typeof named === 'string' ? URL.parse(named) : null
  if (url?.origin === visit.publicOrigin || url?.origin === visit.origin) {
    return url.pathname + url.search
  }
  visit.note('resource_elsewhere', where, named)
  return undefined
}
