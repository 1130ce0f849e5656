import { decodePaymentRequiredHeader } from '@x402/core/http'
import { PaymentRequiredV2Schema } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'
import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar'
import { add } from './faults.ts'
import { indexer, type Operation, report } from './openapi.ts'
import { type Answer, isRecord, recordAt, tell, type Visit } from './visit.ts'

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
  checkUnpaid(visit, at, probe)
  const demand = demandOf(probe)
  if (probe.status === 402 && demand === undefined) add(visit, 'demand_missing', at)
  return demand
}

/** A call without a payment must have a price. */
function checkUnpaid(visit: Visit, where: string, answer: Answer): void {
  const { status, failed } = answer
  if (failed !== undefined || status >= 500) add(visit, 'probe_failed', where, tell(answer))
  else if (status === 429) add(visit, 'rate_limited', where, tell(answer))
  else if (status !== 402) add(visit, 'probe_refused', where, tell(answer))
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
    add(visit, 'demand_large', at, `${demandLength} of ${all} bytes`)
  const told = ['cache-control', 'age', 'x-cache'].map((name) => headers.get(name) ?? '')
  const [kept = '', age = '', cache = ''] = told
  if (!/\bno-store\b/i.test(kept) || Number(age) > 0 || /\bhit\b/i.test(cache))
    add(visit, 'demand_cached', at, told.join('; '))
}

/** What indexes (Bazaar, x402scan) require of a 402. */
function checkListing(visit: Visit, paid: Paid, demand: PaymentRequired): void {
  const at = nameOf(paid)
  const url = URL.parse(demand.resource.url)
  const published = new URL(visit.publicOrigin + paid.path)
  if (url?.origin !== published.origin || url.pathname !== published.pathname)
    add(visit, 'resource_other', at, `${demand.resource.url} instead of ${published.href}`)
  const bazaar = demand.extensions?.['bazaar']
  const declared = bazaar as DiscoveryExtension & Record<string, unknown>
  const { errors = [] } = isRecord(bazaar)
    ? validateDiscoveryExtension(declared)
    : { errors: ['there is none'] }
  const invalid = errors.map((message) => ({ severity: 'error', code: 'bazaar', message }) as const)
  const { issues = [] } = indexer?.validatePaymentRequiredDetailed(demand) ?? {}
  report(visit, at, [...invalid, ...issues])
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
    add(visit, 'sign_in_wrong', nameOf(paid), { domain, uri, issuedAt, expirationTime })
}

/** Forwarding headers that name another host must not change the address in the 402. */
async function checkForwarding(visit: Visit, { method, path }: Paid): Promise<void> {
  const other = 'forwarded.doctor.example'
  const headers = { 'x-forwarded-host': other, forwarded: `host=${other}` }
  const told = demandOf(await visit.ask(path, { method, headers }))?.resource.url ?? ''
  if (told.includes(other)) add(visit, 'forwarded_trusted', `${method} ${path}`, told)
}

async function checkExample(visit: Visit, paid: Paid, demand: PaymentRequired): Promise<void> {
  const { method, path } = paid
  const example = recordAt(demand.extensions, 'bazaar', 'info', 'input', 'body')
  if (method === 'GET' || Object.keys(example).length === 0) return
  const body = JSON.stringify(example)
  const answer = await visit.ask(path, { method, body })
  checkUnpaid(visit, `${nameOf(paid)} with ${body}`, answer)
}

const page = 'https://page.doctor.example'
/** Headers that stock clients send, including the last one, which they send by mistake. */
const requestHeaders =
  'content-type,payment-signature,sign-in-with-x,idempotency-key,access-control-expose-headers'

/** Whether a page of another origin can buy: the preflight, and the headers of the 402 that it may read. */
export async function checkBrowser(visit: Visit, paid: Paid): Promise<void> {
  const { method, path } = paid
  const preflight = await visit.ask(path, {
    method: 'OPTIONS',
    headers: {
      origin: page,
      'access-control-request-method': method,
      'access-control-request-headers': requestHeaders,
    },
  })
  const refused = missingIn(preflight, 'allow-headers', requestHeaders.split(','))
  const isRefused = preflight.status > 299 || preflight.status === 0 || refused !== ''
  if (isRefused) add(visit, 'browser_blocked', `OPTIONS ${path}`, refused || tell(preflight))
  const answer = await visit.ask(path, { method, headers: { origin: page } })
  const hidden = missingIn(answer, 'expose-headers', ['payment-required', 'payment-response'])
  if (answer.status === 402 && hidden !== '') add(visit, 'browser_blocked', nameOf(paid), hidden)
}

/** What the answer does not allow of these names, as a text; empty if nothing. */
function missingIn({ headers }: Answer, list: string, names: readonly string[]): string {
  if (!['*', page].includes(headers.get('access-control-allow-origin') ?? ''))
    return 'origin not allowed'
  const allowed = (headers.get(`access-control-${list}`) ?? '').toLowerCase().split(/\s*,\s*/)
  return names.filter((name) => !allowed.includes(name) && !allowed.includes('*')).join(', ')
}
