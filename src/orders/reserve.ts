import { type Charged, Refusal } from '../lib/refusal.ts'
import { signedTo } from '../payments/acceptance.ts'
import { paymentKeyOf, type X402Payment } from '../payments/payment.ts'
import type { Checked, Rails } from '../payments/ports.ts'
import type { Payees } from '../payments/terms.ts'
import type { PaymentPayload } from '../payments/x402.ts'
import type { Digest } from '../secrets/tokens.ts'
import type { Reservation, ReservationStore } from './ports.ts'
import { type PurchaseRequest, paymentKeyIn } from './replay.ts'

export interface ReservingDeps {
  readonly reservations: ReservationStore
  readonly digest: Digest
}

/**
 * Binds a payment to the request that it came with, before anybody outside sees it. A chain provider or a
 * facilitator that sees the payment in its check could otherwise send it with a request of its own, and be first
 * (docs/contributors/decisions/016).
 *
 * @param sent what is asked for, as `wordingsOf` has it, and whether the payer's own key has signed the payment
 * @returns the mark of this request
 * @throws Refusal `payment_reused` when the payment came with another request first
 */
export async function reserve(
  { reservations, digest }: ReservingDeps,
  tender: X402Payment,
  {
    wordings,
    isSigned,
  }: { readonly wordings: readonly [string, string]; readonly isSigned: boolean },
): Promise<Reservation['mark']> {
  const held = await reservations.reserve(paymentKeyOf(tender), digest.of(wordings[0]), isSigned)
  if (wordings.some((wording) => digest.matches(wording, held.request))) return held.mark
  const message =
    'This payment came with another request first. Send that one again to learn what became of it.'
  throw new Refusal('payment_reused', message, { charged: 'unknown' })
}

/**
 * Whether another request with this payment may be about to open its order. Two equal requests that are
 * checked at once may be judged differently, for example by two chain providers of which one has not seen
 * yet that the wallet was funded.
 *
 * @param mark of this request, if it was judged and opens no order; otherwise null
 */
export async function isConsidered(
  { reservations }: Pick<ReservingDeps, 'reservations'>,
  payment: PaymentPayload,
  mark: Reservation['mark'],
): Promise<boolean> {
  const key = paymentKeyIn(payment)
  // Released first, so that of two requests that end at once at least one finds the other gone.
  if (mark !== null) await reservations.release(key, mark)
  return reservations.isConsidered(key)
}

/** What is known of the money of a payment that has no order. */
export type Money =
  /** Nobody has looked. */
  | 'unseen'
  /** It has not moved. */
  | 'unmoved'
  /** It has arrived. */
  | 'landed'
  | 'unknown'

export function moneyOf(checked: Checked): Money {
  switch (checked.outcome) {
    case 'good':
      return checked.hasLanded ? 'landed' : 'unmoved'
    case 'bad':
      return 'unmoved'
    case 'unknown':
      return checked.charged === 'no' ? 'unseen' : 'unknown'
  }
}

/**
 * Whether a payment that opens no order has moved money. It may have paid for an order whose record was
 * lost. So if it pays this store and was not checked, the chain is asked once whether it was used; a
 * payment that was used proves nothing to this request.
 */
export async function chargedFor(
  { rails, payees }: { readonly rails: Rails; readonly payees: Payees },
  { heldUp }: Pick<PurchaseRequest, 'heldUp'>,
  payment: PaymentPayload,
  money: Money,
): Promise<{ readonly charged: Charged; readonly provesNothing?: true }> {
  if (money === 'landed') return { charged: 'yes' }
  if (money !== 'unseen') return { charged: money === 'unmoved' ? 'no' : 'unknown' }
  const tenders = signedTo(payees, payment)
  if (tenders.length === 0) return { charged: 'no' }
  // A caller above a limit must not cause calls to the chain.
  if (heldUp?.code === 'rate_limited') return { charged: 'unknown' }
  const unused = await Promise.all(tenders.map(rails.x402.isUnused))
  return unused.every(Boolean) ? { charged: 'no' } : { charged: 'unknown', provesNothing: true }
}
