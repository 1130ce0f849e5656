import type { Allowance } from '../orders/ports.ts'
import type { CheckoutId } from '../primitives/ids.ts'

/** What operators need to hear about checkouts. None of it carries personal fields or addresses. */
export type CheckoutHappening =
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
  /** The processor does not show a payment any more that it had called settled. */
  | { readonly name: 'settled_payment_gone'; readonly checkout: CheckoutId }
  /** Working on a checkout threw: a defect, or a part of the store that is down. */
  | {
      readonly name: 'checkout_step_failed'
      readonly checkout: CheckoutId
      readonly error: unknown
    }

export type CheckoutReporter = (happening: CheckoutHappening) => void
