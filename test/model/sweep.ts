import { advanceCheckout } from '../../src/checkouts/advance.ts'
import type { CheckoutStepDeps } from '../../src/checkouts/ports.ts'
import { type AdvanceDeps, advance } from '../../src/orders/advance.ts'

/** Advances due orders once, as the sweep of a store does, and waits for all. Returns their number. */
export async function sweep(deps: AdvanceDeps, limit: number): Promise<number> {
  const due = await deps.orders.claimDue(limit)
  await Promise.all(due.map((order) => advance(deps, order, 0)))
  return due.length
}

/** The same for checkouts. */
export async function sweepCheckouts(deps: CheckoutStepDeps, limit: number): Promise<void> {
  const due = await deps.checkouts.claimDue(limit)
  await Promise.all(
    due.map((checkout) =>
      advanceCheckout(deps, checkout).catch((error: unknown) => {
        deps.reportCheckout({ name: 'checkout_step_failed', checkout: checkout.id, error })
      }),
    ),
  )
}
