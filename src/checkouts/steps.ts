import type { AdvanceDeps } from '../orders/advance.ts'
import type { Checkout } from './checkout.ts'
import type { PayoutWatch } from './payout-watch.ts'
import type { CheckoutStore, Processor } from './ports.ts'
import type { CheckoutReporter } from './report.ts'

/** What a step of a checkout may use: also everything that carries its order on. */
export interface CheckoutStepDeps extends AdvanceDeps {
  readonly checkouts: CheckoutStore
  readonly processor: Processor
  readonly watchPayout: PayoutWatch
  readonly reportCheckout: CheckoutReporter
}

/** The one next thing for a checkout that is not closed. */
export type CheckoutStep =
  | { readonly type: 'move'; readonly to: Checkout }
  /** Nothing can be done before that many milliseconds have passed. */
  | { readonly type: 'wait'; readonly ms: number }

export function moveTo(to: Checkout): CheckoutStep {
  return { type: 'move', to }
}

export function wait(ms: number): CheckoutStep {
  return { type: 'wait', ms }
}
