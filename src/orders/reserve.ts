import { Refusal } from '../lib/refusal.ts'
import { paymentKeyOf, type X402Payment } from '../payments/payment.ts'
import type { PaymentPayload } from '../payments/x402.ts'
import type { Digest } from '../secrets/tokens.ts'
import type { Reservation, ReservationStore } from './ports.ts'
import { paymentKeyIn } from './replay.ts'

export interface ReservingDeps {
  readonly reservations: ReservationStore
  readonly digest: Digest
}

/**
 * Binds a payment to what it came with, before anybody outside sees it. A node or a facilitator that is
 * shown the payment in its check could post it with a request of its own, and be first (docs/contributors/decisions/016).
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
 * Whether another request with this payment may be about to open its order. Two equal ones that are
 * checked at once may be judged differently, as by two nodes of the chain of which one has not seen
 * yet that the wallet was funded.
 *
 * @param mark of this request, where it was judged and opens no order
 */
export async function isConsidered(
  { reservations }: Pick<ReservingDeps, 'reservations'>,
  payment: PaymentPayload,
  mark: Reservation['mark'],
): Promise<boolean> {
  const key = paymentKeyIn(payment)
  // First, so that of two that end at once one finds the other gone.
  if (mark !== null) await reservations.release(key, mark)
  return reservations.isConsidered(key)
}
