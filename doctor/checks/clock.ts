import { isRecord, recordAt } from '../ask.ts'
import { demandOf, named } from '../demand.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

/** Stock clients sign payments that live for minutes. Milliseconds; Date has whole seconds. */
const offMs = 10_000
const farOffMs = 120_000
/** An answer takes a while to come, and clocks have whole seconds. */
const slackMs = 3_000

/** The store's clock against the one here, by the Date header of any answer. */
export async function checkClock({ ask, note }: Visit): Promise<void> {
  const asked = Date.now()
  const { headers } = await ask('/.well-known/x402')
  const told = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(told)) return
  // Somewhere between asking and hearing; what lies between is not the clock's fault.
  const off = Math.max(asked - told - 1_000, told - Date.now(), 0)
  const seen = `${Math.round(off / 1_000)} s`
  if (off > farOffMs) note('clock_far_off', 'Date', seen)
  else if (off > offMs) note('clock_off', 'Date', seen)
}

/** Challenges to sign in: for this address, issued by now, and not run out yet. */
export function checkSignIn({ note, publicOrigin }: Visit, paid: Paid): void {
  const extension = demandOf(paid.probe)?.extensions?.['sign-in-with-x']
  if (!isRecord(extension)) return
  const at = named(paid)
  const { domain, uri, issuedAt, expirationTime } = recordAt(extension, 'info')
  const now = Date.now()
  if (Date.parse(String(issuedAt)) > now + slackMs) note('sign_in_future', at, issuedAt)
  if (Date.parse(String(expirationTime)) <= now) note('sign_in_expired', at, expirationTime)
  const published = new URL(publicOrigin)
  if (domain !== published.host || URL.parse(String(uri))?.origin !== published.origin) {
    note('sign_in_elsewhere', at, `${domain} ${uri}`)
  }
}
