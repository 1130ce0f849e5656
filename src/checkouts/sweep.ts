import { advanceCheckout } from './advance.ts'
import type { CheckoutStepDeps } from './steps.ts'

/**
 * Goes on with checkouts that wait for a payment, for an operator or for the processor.
 *
 * @returns how many were taken; when it is `limit`, there may be more
 */
export async function sweepCheckouts(deps: CheckoutStepDeps, limit: number): Promise<number> {
  const due = await deps.checkouts.claimDue(limit)
  await Promise.all(
    due.map((checkout) =>
      advanceCheckout(deps, checkout).catch((error: unknown) => {
        deps.reportCheckout({ name: 'checkout_step_failed', checkout: checkout.id, error })
      }),
    ),
  )
  return due.length
}
