import { type Answer, type Fault, isRecord, noterOf, recordAt, tell, type Visit } from './visit.ts'

/** Faults of what the store says of itself, and of how it is reached. */
export const publishedFaults = {
  unreachable: {
    level: 'stop',
    what: 'The store does not answer.',
    mend: 'Start it, and check the address, the proxy and the certificate.',
  },
  not_https: {
    level: 'warn',
    what: 'The store answers over plain HTTP, so anybody on the way can change prices and receivers.',
    mend: 'Publish it over HTTPS only.',
  },
  clock_off: {
    level: 'warn',
    what: 'The clock of the store and the one here are more than ten seconds apart; payments are valid for minutes.',
    mend: 'Synchronise the clock of the store (NTP).',
  },
  manifest_missing: {
    level: 'warn',
    what: 'There is no manifest with a list of resources at /.well-known/x402.',
    mend: 'Let the proxy pass this path on to the store.',
  },
  resource_elsewhere: {
    level: 'warn',
    what: 'The manifest names a resource that is not a URL of this store.',
    mend: 'Set PUBLIC_URL to the address that buyers use; pass that address to the doctor with --public.',
  },
  resource_unreachable: {
    level: 'warn',
    what: 'The manifest names a resource that does not exist or fails.',
    mend: 'Let the proxy pass this path on to the store.',
  },
  signals_stale: {
    level: 'warn',
    what: 'The manifest has no signals of the last five minutes, so readers consider the store down.',
    mend: 'Keep caches from storing the manifest for longer than it says.',
  },
  signals_stop: {
    level: 'stop',
    what: 'The signals tell agents to stop.',
    mend: 'Fix the part that is down; /readyz names it.',
  },
  keys_missing: {
    level: 'note',
    what: 'There are no keys at /.well-known/jwks.json, so nobody can check receipts of the store.',
    mend: 'Let the proxy pass this path on to the store.',
  },
  keys_private: {
    level: 'stop',
    what: 'The published keys contain private parts: anybody can sign as the store.',
    mend: 'Remove them at once, and change the keys.',
  },
} as const satisfies Readonly<Record<string, Fault>>

const note = noterOf(publishedFaults)
const manifest = 'GET /.well-known/x402'
/** With older signals, readers consider a store down (x402-signals). Milliseconds. */
const freshMs = 5 * 60_000
const clockMs = 10_000
/** A long manifest must not cause a burst of calls. */
const maxResources = 30

/** Whether the store answers at all, over HTTPS, with a clock that is right. Returns whether it answers. */
export async function checkReach(visit: Visit): Promise<boolean> {
  const sentAt = Date.now()
  const { failed, headers } = await visit.ask('/.well-known/x402')
  if (failed !== undefined) {
    note(visit, 'unreachable', visit.origin, failed)
    return false
  }
  const { protocol, hostname } = new URL(visit.publicOrigin)
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol === 'http:' && !isHere) note(visit, 'not_https', visit.publicOrigin)
  // A shared cache returns an answer with the Date on which the store made it, and its Age.
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? '0'
  const storeTime = Date.parse(headers.get('date') ?? '') + Number(age) * 1_000
  // Any time between the request and the answer is right. Date and Age have whole seconds.
  const off = Math.max(sentAt - storeTime - 2_000, storeTime - Date.now())
  if (off > clockMs) note(visit, 'clock_off', 'Date', `${Math.round(off / 1_000)} s`)
  return true
}

/** Checks the manifest. Returns the paths of its resources that belong to this store. */
export async function checkManifest(visit: Visit): Promise<readonly string[]> {
  const answer = await visit.ask('/.well-known/x402')
  const { resources } = recordAt(answer.json)
  if (answer.status !== 200 || !Array.isArray(resources)) {
    note(visit, 'manifest_missing', manifest, tell(answer))
    return []
  }
  const { agent_action: action, last_updated: updated } = recordAt(answer.json, 'signals')
  const age = Math.abs(Date.now() - Date.parse(String(updated)))
  if (action === 'stop') note(visit, 'signals_stop', manifest, recordAt(answer.json, 'signals'))
  if (!(age < freshMs)) note(visit, 'signals_stale', manifest, updated)
  const paths = resources.flatMap((entry: unknown) => pathOf(visit, entry) ?? [])
  // Paths with parameters lead nowhere.
  return [...new Set(paths)].filter((path) => !/\{|%7B/i.test(path)).slice(0, maxResources)
}

/** Path and query of a resource, which is then requested at the examined origin. */
function pathOf(visit: Visit, entry: unknown): string | undefined {
  const named = isRecord(entry) ? (entry['url'] ?? entry['resource']) : entry
  const url = typeof named === 'string' ? URL.parse(named) : null
  if (url?.origin === visit.publicOrigin || url?.origin === visit.origin) {
    return url.pathname + url.search
  }
  note(visit, 'resource_elsewhere', manifest, named)
  return undefined
}

export function noteUnreachable(visit: Visit, path: string, answer: Answer): void {
  note(visit, 'resource_unreachable', `GET ${path}`, tell(answer))
}

/** Checks the keys that verify receipts. */
export async function checkKeys(visit: Visit): Promise<void> {
  const where = 'GET /.well-known/jwks.json'
  const answer = await visit.ask('/.well-known/jwks.json')
  const { keys } = recordAt(answer.json)
  if (answer.status !== 200 || !Array.isArray(keys) || keys.length === 0)
    note(visit, 'keys_missing', where, tell(answer))
  else if (keys.some((key) => isRecord(key) && ('d' in key || 'k' in key)))
    note(visit, 'keys_private', where)
}
