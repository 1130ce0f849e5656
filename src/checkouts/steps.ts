import type { AdvanceDeps } from '../orders/advance.ts'
import type { Step } from '../orders/workflow.ts'
import type { Checkout } from './checkout.ts'
import type { CheckoutStore, HandPayouts, Processor } from './ports.ts'
import type { CheckoutReporter } from './report.ts'

/** What a step of a checkout may use: also everything that carries its order on. */
export interface CheckoutStepDeps extends AdvanceDeps {
  readonly checkouts: CheckoutStore
  readonly processor: Processor
  readonly hands: HandPayouts
  readonly reportCheckout: CheckoutReporter
}

/** The one next thing for a checkout. */
export type CheckoutStep = Step<Checkout>
