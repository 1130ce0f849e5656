import { isDeepStrictEqual } from 'node:util'
import type { Visit } from './visit.ts'

/**
 * How severe a fault is. `stop`: a buyer cannot buy, buys something other than expected, or never learns
 * the price. `warn`: some clients or some listings fail. `note`: something useful to buyers is missing.
 */
type Level = 'stop' | 'warn' | 'note'

interface Fault {
  readonly level: Level
  readonly what: string
  /** How to fix it. */
  readonly mend: string
}

export interface Finding extends Fault {
  readonly code: string
  /** The request or the part of the store, such as `POST /buy`. */
  readonly where: string
  /** What was seen there. The store's own words are shortened, and have no control characters. */
  readonly seen: string
}

const of =
  (level: Level) =>
  (what: string, mend: string): Fault => ({ level, what, mend })
const [stop, warn, note] = [of('stop'), of('warn'), of('note')]

/** By their codes, in the order in which they are printed and listed in docs/operators/doctor.md. */
export const faults = {
  // What the store says of itself, and how it is reached.
  unreachable: stop(
    'The store does not answer.',
    'Start it, and check the address, the proxy and the certificate.',
  ),
  not_https: warn(
    'The store answers over plain HTTP, so anybody on the way can change prices and receivers.',
    'Publish it over HTTPS only.',
  ),
  clock_off: warn(
    'The clock of the store and the one here are more than ten seconds apart; payments are valid for minutes.',
    'Synchronise the clock of the store (NTP).',
  ),
  document_missing: warn(
    'A document that buyers and indexes look for is missing or not whole.',
    'Let the proxy pass this path on to the store.',
  ),
  resource_wrong: warn(
    'The manifest names a resource that is not a URL of this store, does not exist or fails.',
    'Set PUBLIC_URL to the address that buyers use, pass that address to the doctor with --public, and let the proxy pass the path on to the store.',
  ),
  signals_stale: warn(
    'The manifest has no signals of the last five minutes, so readers consider the store down.',
    'Keep caches from storing the manifest for longer than it says.',
  ),
  signals_stop: stop(
    'The signals tell agents to stop.',
    'Fix the part that is down; /readyz names it.',
  ),
  keys_private: stop(
    'The published keys contain private parts: anybody can sign as the store.',
    'Remove them at once, and change the keys.',
  ),
  nothing_for_sale: stop(
    'The OpenAPI document has no paid operation.',
    'Let the proxy pass /openapi.json on to the store, unchanged.',
  ),
  // The OpenAPI document, which indexes read first.
  listing_error: warn(
    'The published validator of discovery reports an error.',
    'Follow its message; indexers use the same validator.',
  ),
  listing_remark: note(
    'The published validator of discovery has a remark.',
    'Consider its message.',
  ),
  listing_unchecked: note(
    'The published validator of discovery is not installed here, as in every release, so its checks are missing.',
    'Run the doctor in a clone of the store, too.',
  ),
  mcp_broken: warn(
    'The MCP server answers, but lists no tools.',
    'Keep the proxy from buffering or changing its answers, and run the MCP inspector against it.',
  ),
  metrics_closed: note(
    'The metrics are closed to the doctor, so it knows nothing about the nodes of the store.',
    'Set METRICS_TOKEN to that of the store, or omit --metrics.',
  ),
  nodes_disagree: warn(
    'The nodes differ in version or in a setting that must agree, so buyers may see two prices, or orders follow two rules.',
    'Finish the upgrade, or give all nodes the same value (docs/operators/configuration.md, "Settings that must agree") and restart those that differ.',
  ),
  // A paid operation, in the order of a purchase.
  rate_limited: note(
    'The store limited the doctor, so some checks are missing.',
    'Wait a minute and run the doctor again.',
  ),
  probe_failed: stop(
    'An empty call or the store’s own example makes it fail.',
    'The log of the store has the error.',
  ),
  probe_refused: warn(
    'An empty call or the store’s own example is refused instead of answered with 402, so indexers remove the operation, and clients that copy it fail.',
    'Let such calls through the proxy, answer 402 with a floor price, and publish an example that can be bought.',
  ),
  demand_missing: stop(
    'The 402 has no PAYMENT-REQUIRED header that a client can read.',
    'Let the proxy pass it on; clients of x402 version 2 read nothing else.',
  ),
  demand_large: warn(
    'PAYMENT-REQUIRED is longer than 4.8 kB, or all headers together than 8 kB; proxies drop such answers.',
    'Raise the buffers of the proxy as deploy/nginx.conf does.',
  ),
  demand_cached: stop(
    'The 402 comes from a cache or may be stored by one: price, receiver and quote may be another buyer’s.',
    'Exclude the paid paths from the cache, and pass on Cache-Control: no-store.',
  ),
  resource_other: stop(
    'resource.url is not the address that was called, so clients and indexers refuse it.',
    'Set PUBLIC_URL to the address that buyers use; pass that address to the doctor with --public.',
  ),
  forwarded_trusted: warn(
    'A header of the request (X-Forwarded-Host) changes the address in the 402.',
    'Trust forwarding headers only from the proxy.',
  ),
  sign_in_wrong: warn(
    'A sign-in challenge is for another address, already expired, or from the future; clients do not sign it.',
    'Set PUBLIC_URL to the address that buyers use, and synchronise the clocks of all machines.',
  ),
  browser_blocked: stop(
    'No page of another origin can buy here: the store refuses a preflight with the headers of stock clients, or hides PAYMENT-REQUIRED and PAYMENT-RESPONSE.',
    'Let the proxy pass on OPTIONS, and the Access-Control headers of all answers, also of errors.',
  ),
}

/** Adds a finding, once. */
export function add(
  { findings }: Visit,
  code: keyof typeof faults,
  where: string,
  seen: unknown = '',
): void {
  const said = typeof seen === 'string' ? seen : (JSON.stringify(seen) ?? '')
  const finding = { code, where: printable(where), seen: printable(said), ...faults[code] }
  if (!findings.some((one) => isDeepStrictEqual(one, finding))) findings.push(finding)
}

const maxSeen = 300

/** Without control characters and short, because the store's words could control or flood the terminal. */
function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return clean.length > maxSeen ? `${clean.slice(0, maxSeen)}…` : clean
}
