import type { Offer } from '../catalog/offer.ts'
import type { Health } from '../health/health.ts'
import type { Unsold } from '../health/verdict.ts'
import { never } from '../lib/errors.ts'
import { formatUsdc, type Usdc } from '../lib/money.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Checked } from '../payments/ports.ts'
import type { Reporter } from './ports.ts'
import type { Priced } from './price.ts'
import { money } from './spending-limits/rules.ts'

/** A part of the store does not answer, and the same request may succeed in a moment. */
export function notNow(what: string, charged?: 'no' | 'unknown'): Refusal {
  const message = `${what} Send the same request again.`
  return new Refusal('try_again', message, { retryAfterSeconds: 5, ...(charged && { charged }) })
}

/**
 * Turns the failure of a part into an answer that says whether money can have moved. Only the operator learns why.
 *
 * @throws Refusal `try_again` for any other error; a Refusal as it is
 */
export async function orTryAgain<T>(
  report: Reporter,
  charged: 'no' | 'unknown',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    report({ name: 'purchase_failed', error })
    throw notNow('A dependency is temporarily unavailable.', charged)
  }
}

/**
 * @param isFromFloat whether the refund wallet would pay it back
 * @throws Refusal `store_paused` if nothing is sold, `offer_unavailable` if not this supplier's or this amount
 */
export function requireSold(
  health: Pick<Health, 'unsold'>,
  { amount, offer }: Sale,
  isFromFloat: boolean,
): void {
  refuseUnsold(health.unsold(amount, offer.source.supplier, isFromFloat), amount)
}

type Sale = Pick<Priced, 'amount'> & { readonly offer: Pick<Offer, 'source'> }

/** Deducts a sale from what the next ones may cost. @throws Refusal as `requireSold` does */
export function sell(
  health: Pick<Health, 'sell'>,
  reference: string,
  { amount, offer }: Sale,
): void {
  refuseUnsold(health.sell(reference, amount, offer.source.supplier), amount)
}

function refuseUnsold(reason: Unsold | undefined, amount: Usdc): void {
  switch (reason?.type) {
    case undefined:
      return
    case 'paused':
      throw storePaused()
    case 'supplier_paused':
      throw unavailable('The supplier of this offer sells nothing at the moment.')
    case 'too_large':
      throw tooLarge(amount, reason)
    default:
      never(reason)
  }
}

/** The answer names the bound, not its cause: how much the store's wallets hold is private. */
function tooLarge(amount: Usdc, { bound }: Extract<Unsold, { type: 'too_large' }>): Refusal {
  const { max: most } = bound
  const message = `The store sells for at most ${formatUsdc(most)} USDC per purchase at the moment; this is ${formatUsdc(amount)} USDC.`
  return unavailable(message, { reason: 'too_large', most: money(most), asked: money(amount) })
}

function unavailable(message: string, extra: Record<string, unknown> = {}): Refusal {
  return new Refusal('offer_unavailable', message, { retryAfterSeconds: 60, extra })
}

export function notChecked({
  charged,
  isTooCostly = false,
}: Pick<Extract<Checked, { outcome: 'unknown' }>, 'charged' | 'isTooCostly'>): Refusal {
  if (!isTooCostly) return notNow('The payment could not be checked at the moment.', charged)
  // Fees move within minutes.
  const message = 'Network fees are too high at the moment. Send the same request again.'
  return new Refusal('too_costly', message, { charged, retryAfterSeconds: 60 })
}

export function storePaused(): Refusal {
  return new Refusal('store_paused', 'The store accepts no purchases at the moment.', {
    retryAfterSeconds: 60,
    extra: { agent_action: 'stop' },
  })
}

/** Whom the store sells nothing to and pays back only through a person; in lower case (docs/operators/operations.md). */
export interface Denylist {
  readonly has: (party: string) => boolean
}

export function isDenied(denylist: Denylist, party: string): boolean {
  return denylist.has(party.toLowerCase())
}

/** The answer names neither the reason nor whom it concerns. @throws Refusal `purchase_declined` */
export function requireNotDenied(
  { denylist }: { readonly denylist: Denylist },
  party: string | undefined,
): void {
  if (party === undefined || !isDenied(denylist, party)) return
  throw new Refusal('purchase_declined', 'The store declines this purchase.', { charged: 'no' })
}

/**
 * Looks something up about an order. Only the log says why the records cannot be read.
 *
 * @param charged the `charged` of the refusal, on paths that report it: unknown while nothing can be read
 * @throws Refusal `try_again`, besides what `look` throws
 */
export async function orNotNow<T>(
  log: { error(details: object, message: string): void },
  look: () => Promise<T>,
  charged?: 'unknown',
): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Refusal) throw error
    log.error({ err: error }, 'orders not readable')
    throw notNow('The orders cannot be read just now.', charged)
  }
}
