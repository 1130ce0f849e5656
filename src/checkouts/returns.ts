import { never } from '../lib/never.ts'
import { type Debt, failedPayout, nextForPayout, type Payout } from '../orders/payout.ts'
import { moveTo, wait } from '../orders/workflow.ts'
import { paymentNotShown, paymentVanished } from '../payments/pay-back-faults.ts'
import {
  type CheckoutIn,
  type InvoicedCheckout,
  isUnderWay,
  mayBePaid,
  type Return,
  type ReturnUnderWay,
  returnReference,
  settledPayments,
  signedReturn,
  withReturn,
  worthOf,
} from './checkout.ts'
import { claimedUnits, maxKept, payableUnits } from './ledger.ts'
import type { CheckoutStep, CheckoutStepDeps } from './steps.ts'

type Decided = CheckoutIn<'ORDERED' | 'ENDED'>

/**
 * The next step for money that does not belong to the order; undefined if there is none. With the price, no
 * more goes out than the processor shows now: what it does not show may never have been ours.
 */
export async function giveBack(
  deps: CheckoutStepDeps,
  checkout: Decided,
  shown: bigint,
): Promise<CheckoutStep | undefined> {
  const current = checkout.returns.find(isUnderWay)
  if (!current) return newReturn(checkout, shown)
  return payableUnits(checkout, current) <= shown
    ? goOn(deps, checkout, current)
    : moveTo(withReturn(checkout, current.seq, denied(deps, checkout, current)))
}

/** Nothing is owed unless the return may be paid already; then an operator has to look. */
function denied(deps: CheckoutStepDeps, checkout: Decided, one: ReturnUnderWay): Payout {
  const code = mayBePaid(one) ? paymentNotShown : paymentVanished
  const reason = 'The processor does not show the money any more that would go back.'
  return failedPayout(debtOf(deps, checkout, one), one.payout, { code, reason })
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

/** One return for all money shown that nothing else has claimed. What is confirmed later gets its own. */
function newReturn(checkout: Decided, shown: bigint): CheckoutStep | undefined {
  const { returns } = checkout
  const units = shown - claimedUnits(checkout)
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
  const { id, changedAt, refundTo } = checkout
  const { seq } = one
  return {
    reference: returnReference(id, seq),
    since: changedAt,
    payee: refundTo,
    sign: async () => signedReturn(checkout, one),
    report: ({ name, reason }) =>
      deps.reportCheckout(
        name === 'failed'
          ? { name: 'return_failed', checkout: id, seq, reason }
          : { name: 'return_held', checkout: id, seq, reason },
      ),
  }
}
