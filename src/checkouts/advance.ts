import { never } from '../lib/never.ts'
import { carry, createSweeper, type Flow, rest, type Sweeper } from '../orders/workflow.ts'
import { type Checkout, isClosed } from './checkout.ts'
import { ask, look, place } from './invoice.ts'
import type { CheckoutStep, CheckoutStepDeps } from './ports.ts'

/**
 * Carries a checkout as far as it can go now, and then leaves it to the sweep. The caller must hold the
 * lease, which ends with this.
 */
export function advanceCheckout(deps: CheckoutStepDeps, checkout: Checkout): Promise<Checkout> {
  return carry(checkoutFlow(deps), checkout)
}

/** Goes on with checkouts that wait for a payment, for an operator or for the processor. */
export function checkoutSweeper(deps: CheckoutStepDeps, atOnce: number): Sweeper {
  const flow = checkoutFlow(deps)
  return createSweeper({
    claimDue: (limit) => deps.checkouts.claimDue(limit),
    work: (checkout) => carry(flow, checkout),
    failed: ({ id: checkout }, error) =>
      deps.reportCheckout({ name: 'checkout_step_failed', checkout, error }),
    atOnce,
  })
}

function checkoutFlow(deps: CheckoutStepDeps): Flow<Checkout> {
  const { checkouts: store, now, stopping } = deps
  return { store, now, stopping, next: (checkout) => stepOf(deps, checkout) }
}

async function stepOf(deps: CheckoutStepDeps, checkout: Checkout): Promise<CheckoutStep> {
  const step = isClosed(checkout) ? rest : await next(deps, checkout)
  return 'to' in step ? { ...step, to: withoutSubjects(step.to) } : step
}

/** Forgets whose budgets the order counts against, once the order is on record or can never be opened. */
function withoutSubjects(checkout: Checkout): Checkout {
  const { subjects: _, ...rest } = checkout
  switch (checkout.state) {
    case 'OPENING':
    case 'OPEN':
      return checkout
    case 'ORDERED':
      return checkout.isPlaced ? rest : checkout
    default:
      return rest
  }
}

/** The whole life of a checkout in one switch. */
function next(deps: CheckoutStepDeps, checkout: Checkout): Promise<CheckoutStep> {
  switch (checkout.state) {
    case 'OPENING':
      return ask(deps, checkout)
    case 'OPEN':
    case 'ENDED':
      return look(deps, checkout)
    case 'ORDERED':
      return checkout.isPlaced ? look(deps, checkout) : place(deps, checkout)
    case 'REFUSED':
      throw new Error('a checkout that was refused is closed')
    default:
      return never(checkout)
  }
}
