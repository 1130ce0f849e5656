import { never } from '../lib/never.ts'
import { type Debt, failedPayout, nextForPayout, type Payout } from '../orders/payout.ts'
import { moveTo, wait } from '../orders/workflow.ts'
import { paymentNotShown } from '../payments/pay-back-faults.ts'
import {
  type CheckoutIn,
  type InvoicedCheckout,
  isUnderWay,
  type Return,
  type ReturnUnderWay,
  returnReference,
  settledPayments,
  signedReturn,
  withReturn,
  worthOf,
} from './checkout.ts'
import { maxKept, unreturnedUnits } from './ledger.ts'
import type { CheckoutStep, CheckoutStepDeps } from './steps.ts'

type Decided = CheckoutIn<'ORDERED' | 'ENDED'>

/** The next step for money that does not belong to the order; undefined if there is none. */
export async function giveBack(
  deps: CheckoutStepDeps,
  checkout: Decided,
): Promise<CheckoutStep | undefined> {
  const current = checkout.returns.find(isUnderWay)
  return current ? goOn(deps, checkout, current) : newReturn(checkout)
}

/** The next step for a return that an operator has paid by hand, whatever the processor shows now. */
export async function bookNoted(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
): Promise<CheckoutStep | undefined> {
  for (const one of checkout.returns.filter(isUnderWay)) {
    const noted = await deps.hands.find(returnReference(checkout.id, one.seq))
    if (noted !== undefined) return goOn(deps, checkout, one)
  }
  return undefined
}

async function goOn(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  one: ReturnUnderWay,
): Promise<CheckoutStep> {
  const step = await nextForPayout(deps, debtOf(deps, checkout, one), one.payout)
  switch (step.type) {
    case 'move':
      return moveTo(withReturn(checkout, one.seq, step.to))
    case 'wait':
    case 'held':
      return wait(step.ms)
    default:
      return never(step)
  }
}

/**
 * Instead of `giveBack` while the processor shows less confirmed money than before: what would go back may
 * never have been ours. A return that is due fails; one that was approved waits.
 */
export function keepBack(deps: CheckoutStepDeps, checkout: Decided): CheckoutStep | undefined {
  const due = checkout.returns.find(({ payout }) => payout.state === 'DUE')
  if (due === undefined) return undefined
  const reason = 'The processor does not show the money any more that would go back.'
  const fault = { code: paymentNotShown, reason }
  return moveTo(withReturn(checkout, due.seq, failedPayout(debtOf(deps, checkout, due), {}, fault)))
}

/** One return for all confirmed money that nothing else has claimed. What is confirmed later gets its own. */
function newReturn(checkout: Decided): CheckoutStep | undefined {
  const { returns } = checkout
  const units = unreturnedUnits(checkout)
  if (units <= 0n || worthOf(checkout, units) <= maxKept) return undefined
  const payout: Payout = { state: 'DUE' }
  const one = { seq: returns.length + 1, units, why: whyOf(checkout), payout }
  return moveTo({ ...checkout, returns: [...returns, one] })
}

function whyOf({ state, invoice }: Decided): Return['why'] {
  if (state === 'ORDERED') return 'surplus'
  const isInTime = settledPayments(invoice).some(
    ({ receivedAt }) => receivedAt <= invoice.expiresAt,
  )
  return isInTime ? 'underpaid' : 'late'
}

function debtOf(deps: CheckoutStepDeps, checkout: InvoicedCheckout, one: Return): Debt {
  const { id, changedAt } = checkout
  const { seq } = one
  return {
    reference: returnReference(id, seq),
    since: changedAt,
    sign: async () => signedReturn(checkout, one),
    report: ({ name, reason }) =>
      deps.reportCheckout(
        name === 'failed'
          ? { name: 'return_failed', checkout: id, seq, reason }
          : { name: 'return_held', checkout: id, seq, reason },
      ),
  }
}
