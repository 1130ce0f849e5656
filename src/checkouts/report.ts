import type { CheckoutId } from '../lib/ids.ts'
import type { Allowance } from '../orders/ports.ts'
import type { Coin } from '../payments/coins.ts'

/** What operators need to know about checkouts. None of it contains personal fields or addresses. */
export type CheckoutEvent =
  /** Money that goes back and that an operator must act on; the reason is a code. */
  | {
      readonly name: 'return_failed'
      readonly checkout: CheckoutId
      readonly seq: number
      readonly reason: string
    }
  /** Money that goes back waits, because refunds are stopped or a cap is reached. */
  | {
      readonly name: 'return_held'
      readonly checkout: CheckoutId
      readonly seq: number
      readonly reason: Exclude<Allowance, 'granted' | 'over_cap'>
    }
  /**
   * The processor made an invoice with an address that another checkout still has. That invoice is shown to
   * nobody; what the address receives belongs to the other buyer.
   */
  | {
      readonly name: 'address_taken'
      readonly checkout: CheckoutId
      readonly coin: Coin
      readonly holder: CheckoutId
    }
  /** The payout of a return or of a refund has waited at the processor for hours; told once. */
  | { readonly name: 'payout_waits'; readonly payout: string; readonly reason: string }
  /** A payment has not got its confirmations for a day. */
  | { readonly name: 'payment_unconfirmed'; readonly checkout: CheckoutId }
  /** The processor does not know the invoice of a checkout any more that is not closed; told once. */
  | { readonly name: 'invoice_gone'; readonly checkout: CheckoutId }
  /** An invoice could not be read for an hour: no answer, or none that is understood; told once. */
  | { readonly name: 'invoice_unread'; readonly checkout: CheckoutId }
  /** The processor does not show a payment any more that it had called settled. */
  | { readonly name: 'settled_payment_gone'; readonly checkout: CheckoutId }
  /** Working on a checkout threw: a defect, or a part of the store that is down. */
  | {
      readonly name: 'checkout_step_failed'
      readonly checkout: CheckoutId
      readonly error: unknown
    }

export type CheckoutReporter = (event: CheckoutEvent) => void
