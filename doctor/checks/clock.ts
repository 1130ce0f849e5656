import { isRecord, recordAt } from '../ask.ts'
import { demandOf, named } from '../demand.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

/** Stock clients sign payments that are valid for minutes. Milliseconds. */
const offMs = 10_000
const farOffMs = 120_000
/** Tolerance for the time of the request, and for clocks in whole seconds. */
const slackMs = 3_000

/**
 * Compares the store's clock with the local one, by the Date header of an answer, and by its Age: a shared cache
 * returns an answer with the Date on which the store made it.
 */
export async function checkClock({ ask, note }: Visit): Promise<void> {
  const asked = Date.now()
  const { headers } = await ask('/.well-known/x402')
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? '0'
  const told = Date.parse(headers.get('date') ?? '') + Number(age) * 1_000
  if (Number.isNaN(told)) return
  // Any time between the request and the answer is right. Date and Age have whole seconds.
  const off = Math.max(asked - told - 2_000, told - Date.now(), 0)
  const seen = `${Math.round(off / 1_000)} s`
  if (off > farOffMs) note('clock_far_off', 'Date', seen)
  else if (off > offMs) note('clock_off', 'Date', seen)
}

/** A sign-in challenge must be for the published address, already issued, and not expired. */
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
