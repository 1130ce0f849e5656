import { validatePaymentRequiredDetailed } from '@agentcash/discovery'
import type { PaymentRequired } from '@x402/core/types'
import { tell } from '../ask.ts'
import { demandOf, named } from '../demand.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

/** Above this size, proxies with their usual buffers drop the answer. Bytes. */
const maxDemand = 4_800
const maxHeaders = 8_192

/** Checks the answer to an empty call. Returns its payment requirements, if they can be read. */
export function checkProbe({ note }: Visit, paid: Paid): PaymentRequired | undefined {
  const { probe } = paid
  const at = named(paid)
  if (probe.failed !== undefined || probe.status >= 500) note('probe_failed', at, tell(probe))
  else if (probe.status === 429) note('rate_limited', at, tell(probe))
  else if (probe.status < 400) note('probe_sold', at, tell(probe))
  else if (probe.status !== 402) note('probe_refused', at, tell(probe))
  if (probe.status !== 402) return undefined
  const demand = demandOf(probe)
  if (!probe.headers.has('payment-required')) note('demand_missing', at)
  else if (demand === undefined) note('demand_unreadable', at)
  return demand
}

/** Checks the size of the 402, and whether caches may store it. */
export function checkTravel({ note }: Visit, paid: Paid): void {
  const { headers } = paid.probe
  const at = named(paid)
  const demandLength = headers.get('payment-required')?.length ?? 0
  if (demandLength > maxDemand) note('demand_large', at, `${demandLength} bytes`)
  const all = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  if (all > maxHeaders) note('headers_large', at, `${all} bytes`)
  const kept = headers.get('cache-control')
  if (!/\bno-store\b/i.test(kept ?? '')) note('demand_cacheable', at, kept ?? 'no Cache-Control')
  const cached = `age: ${headers.get('age') ?? 0}, x-cache: ${headers.get('x-cache') ?? ''}`
  if (!/^age: 0, (?!.*\bhit\b)/i.test(cached)) note('demand_cached', at, cached)
}

/** Runs the validator that indexers apply to a 402. */
export function checkAsIndexers({ note }: Visit, paid: Paid, demand: PaymentRequired): void {
  const { issues } = validatePaymentRequiredDetailed(demand)
  for (const { severity, code, message, path } of issues) {
    const seen = `${code}: ${message}${path === undefined ? '' : ` (${path})`}`
    note(severity === 'error' ? 'listing_error' : 'listing_remark', named(paid), seen)
  }
}
