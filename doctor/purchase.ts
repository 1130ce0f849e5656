import { validatePaymentRequiredDetailed } from '@agentcash/discovery'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { PaymentRequiredV2Schema } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'
import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar'
import { type Operation, report } from './openapi.ts'
import { type Answer, type Fault, isRecord, noterOf, recordAt, tell, type Visit } from './visit.ts'

/** Faults of a paid operation, in the order of a purchase. */
export const purchaseFaults = {
  rate_limited: {
    level: 'note',
    what: 'The store limited the doctor, so some checks are missing.',
    mend: 'Wait a minute and run the doctor again.',
  },
  probe_failed: {
    level: 'stop',
    what: 'An empty call without a payment makes the store fail.',
    mend: 'The log of the store has the error.',
  },
  probe_refused: {
    level: 'warn',
    what: 'An empty call is refused instead of answered with 402, so indexers remove the operation from their lists.',
    mend: 'Let empty calls through the proxy, and answer 402 with a floor price.',
  },
  demand_missing: {
    level: 'stop',
    what: 'The 402 has no PAYMENT-REQUIRED header that a client can read.',
    mend: 'Let the proxy pass it on; clients of x402 version 2 read nothing else.',
  },
  demand_large: {
    level: 'warn',
    what: 'PAYMENT-REQUIRED is longer than 4.8 kB, or all headers together than 8 kB; proxies drop such answers.',
    mend: 'Raise the buffers of the proxy as deploy/nginx.conf does.',
  },
  demand_cached: {
    level: 'stop',
    what: 'The 402 comes from a cache or may be stored by one: price, receiver and quote may be another buyer’s.',
    mend: 'Exclude the paid paths from the cache, and pass on Cache-Control: no-store.',
  },
  resource_other: {
    level: 'stop',
    what: 'resource.url is not the address that was called, so clients and indexers refuse it.',
    mend: 'Set PUBLIC_URL to the address that buyers use; pass that address to the doctor with --public.',
  },
  forwarded_trusted: {
    level: 'warn',
    what: 'A header of the request (X-Forwarded-Host) changes the address in the 402.',
    mend: 'Trust forwarding headers only from the proxy.',
  },
  example_refused: {
    level: 'warn',
    what: 'The store refuses its own published example, so clients that copy it fail.',
    mend: 'Publish an example that can be bought.',
  },
  sign_in_wrong: {
    level: 'warn',
    what: 'A sign-in challenge is for another address, already expired, or from the future; clients do not sign it.',
    mend: 'Set PUBLIC_URL to the address that buyers use, and synchronise the clocks of all machines.',
  },
} as const satisfies Readonly<Record<string, Fault>>

const note = noterOf(purchaseFaults)
const maxDemand = 4_800
const maxHeaders = 8_192
/** Tolerance for the time of the request, and for clocks in whole seconds. */
const slackMs = 3_000

/** A paid operation, with its answer to an empty call. */
export interface Paid extends Operation {
  readonly probe: Answer
}

export const nameOf = ({ method, path }: Operation) => `${method} ${path}`

/** Examines one paid operation as indexes, buyers and strangers call it. Nothing it sends can be a payment. */
export async function checkPurchase(visit: Visit, paid: Paid): Promise<void> {
  const demand = checkProbe(visit, paid)
  if (demand === undefined) return
  checkTravel(visit, paid)
  checkListing(visit, paid, demand)
  checkSignIn(visit, paid)
  await checkForwarding(visit, paid)
  await checkExample(visit, paid, demand)
}

function checkProbe(visit: Visit, paid: Paid): PaymentRequired | undefined {
  const { probe } = paid
  const at = nameOf(paid)
  if (probe.failed !== undefined || probe.status >= 500)
    note(visit, 'probe_failed', at, tell(probe))
  else if (probe.status === 429) note(visit, 'rate_limited', at, tell(probe))
  else if (probe.status !== 402) note(visit, 'probe_refused', at, tell(probe))
  const demand = demandOf(probe)
  if (probe.status === 402 && demand === undefined) note(visit, 'demand_missing', at)
  return demand
}

const withoutMethods = PaymentRequiredV2Schema.omit({ accepts: true })

/** The payment requirements of a 402, as any client reads them; undefined if they cannot be read. */
function demandOf({ status, headers }: Answer): PaymentRequired | undefined {
  const header = headers.get('payment-required')
  if (status !== 402 || header === null) return undefined
  try {
    const decoded: unknown = decodePaymentRequiredHeader(header)
    // A 402 without any payment method is valid too: it asks for a sign-in.
    const { accepts } = decoded as { accepts?: unknown }
    const isEmpty = Array.isArray(accepts) && accepts.length === 0
    const schema = isEmpty ? withoutMethods : PaymentRequiredV2Schema
    return schema.safeParse(decoded).success ? (decoded as PaymentRequired) : undefined
  } catch {
    return undefined
  }
}

/** The size of the 402, and whether caches may store it. */
function checkTravel(visit: Visit, paid: Paid): void {
  const { headers } = paid.probe
  const at = nameOf(paid)
  const demandLength = headers.get('payment-required')?.length ?? 0
  const all = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  if (demandLength > maxDemand || all > maxHeaders)
    note(visit, 'demand_large', at, `${demandLength} of ${all} bytes`)
  const told = ['cache-control', 'age', 'x-cache'].map((name) => headers.get(name) ?? '')
  const [kept = '', age = '', cache = ''] = told
  if (!/\bno-store\b/i.test(kept) || Number(age) > 0 || /\bhit\b/i.test(cache))
    note(visit, 'demand_cached', at, told.join('; '))
}

/** What indexes (Bazaar, x402scan) require of a 402. */
function checkListing(visit: Visit, paid: Paid, demand: PaymentRequired): void {
  const at = nameOf(paid)
  const url = URL.parse(demand.resource.url)
  const published = new URL(visit.publicOrigin + paid.path)
  if (url?.origin !== published.origin || url.pathname !== published.pathname)
    note(visit, 'resource_other', at, `${demand.resource.url} instead of ${published.href}`)
  const bazaar = demand.extensions?.['bazaar']
  const declared = bazaar as DiscoveryExtension & Record<string, unknown>
  const { errors = [] } = isRecord(bazaar)
    ? validateDiscoveryExtension(declared)
    : { errors: ['there is none'] }
  const invalid = errors.map((message) => ({ severity: 'error', code: 'bazaar', message }) as const)
  report(visit, at, [...invalid, ...validatePaymentRequiredDetailed(demand).issues])
}

/** A sign-in challenge must be for the published address, already issued, and not expired. */
export function checkSignIn(visit: Visit, paid: Paid): void {
  const extension = demandOf(paid.probe)?.extensions?.['sign-in-with-x']
  if (!isRecord(extension)) return
  const { domain, uri, issuedAt, expirationTime } = recordAt(extension, 'info')
  const now = Date.now()
  const isInTime =
    Date.parse(String(issuedAt)) < now + slackMs && Date.parse(String(expirationTime)) > now
  const { host, origin } = new URL(visit.publicOrigin)
  const isHere = domain === host && URL.parse(String(uri))?.origin === origin
  if (!isInTime || !isHere)
    note(visit, 'sign_in_wrong', nameOf(paid), { domain, uri, issuedAt, expirationTime })
}

/** Forwarding headers that name another host must not change the address in the 402. */
async function checkForwarding(visit: Visit, { method, path }: Paid): Promise<void> {
  const other = 'forwarded.doctor.example'
  const headers = { 'x-forwarded-host': other, forwarded: `host=${other}` }
  const told = demandOf(await visit.ask(path, { method, headers }))?.resource.url ?? ''
  if (told.includes(other)) note(visit, 'forwarded_trusted', `${method} ${path}`, told)
}

/** The published example must have a price. */
async function checkExample(visit: Visit, paid: Paid, demand: PaymentRequired): Promise<void> {
  const { method, path } = paid
  const example = recordAt(demand.extensions, 'bazaar', 'info', 'input', 'body')
  if (method === 'GET' || Object.keys(example).length === 0) return
  const body = JSON.stringify(example)
  const answer = await visit.ask(path, { method, body })
  if (answer.status === 429) note(visit, 'rate_limited', nameOf(paid), tell(answer))
  else if (answer.status !== 402)
    note(visit, 'example_refused', `${nameOf(paid)} with ${body}`, tell(answer))
}
