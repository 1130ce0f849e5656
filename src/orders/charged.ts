import { signedTo } from '../payments/acceptance.ts'
import type { Checked, Rails } from '../payments/ports.ts'
import type { Payees } from '../payments/terms.ts'
import type { PaymentPayload } from '../payments/x402.ts'
import type { PurchaseRequest } from './replay.ts'

/** What is known of the money of a payment that has no order. */
export type Money =
  /** Nobody has looked. */
  | 'unseen'
  /** It has not moved. */
  | 'unmoved'
  /** It is here. */
  | 'landed'
  | 'unknown'

/** Whether money moved, as errors say it. */
export type Charged = 'no' | 'yes' | 'unknown'

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
 * Whether a payment that opens no order has moved money. It may have paid before a record of it was
 * lost. So where it pays this store and was not checked, the chain is asked once whether it was used,
 * and whoever had one that was counts as refused.
 */
export async function chargedFor(
  { rails, payees }: { readonly rails: Rails; readonly payees: Payees },
  { heldUp, showedNothing }: Pick<PurchaseRequest, 'heldUp' | 'showedNothing'>,
  payment: PaymentPayload,
  money: Money,
): Promise<Charged> {
  if (money !== 'unseen') return money === 'unmoved' ? 'no' : money === 'landed' ? 'yes' : 'unknown'
  const tenders = signedTo(payees, payment)
  if (tenders.length === 0) return 'no'
  // Whoever is above a limit has nobody asked.
  if (heldUp?.code === 'rate_limited') return 'unknown'
  const unused = await Promise.all(tenders.map(rails.x402.isUnused))
  if (unused.every(Boolean)) return 'no'
  showedNothing?.()
  return 'unknown'
}
