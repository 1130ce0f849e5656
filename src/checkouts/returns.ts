import { never } from '../lib/never.ts'
import { pollDelay } from '../orders/steps.ts'
import { paymentNotShown } from '../payments/pay-back-faults.ts'
import {
  type CheckoutIn,
  type Return,
  returnReference,
  settledPayments,
  worthOf,
} from './checkout.ts'
import { maxKept, unreturnedUnits } from './ledger.ts'
import { type CheckoutStep, type CheckoutStepDeps, moveTo, wait } from './steps.ts'

type Decided = CheckoutIn<'ORDERED' | 'ENDED'>

/** How often a return is looked at that waits for an operator. */
const slowPollMs = 60_000

/** The next thing for money that does not belong to the order; undefined when there is none. */
export async function giveBack(
  deps: CheckoutStepDeps,
  checkout: Decided,
): Promise<CheckoutStep | undefined> {
  const current = checkout.returns.find(
    ({ step }) => step.type !== 'SENT' && step.type !== 'FAILED',
  )
  if (!current) return newReturn(checkout)
  switch (current.step.type) {
    case 'DUE':
      return (
        (await heldBack(deps, checkout, current)) ?? step(checkout, current, { type: 'SENDING' })
      )
    case 'SENDING':
      return (await heldBack(deps, checkout, current)) ?? send(deps, checkout, current)
    case 'SENT':
    case 'FAILED':
      return undefined
    default:
      return never(current.step)
  }
}

/**
 * Instead of `giveBack`, while the processor shows less confirmed money than it did: what would go back
 * may never have been ours. What it was asked for already goes its way.
 */
export function keepBack(deps: CheckoutStepDeps, checkout: Decided): CheckoutStep | undefined {
  const due = checkout.returns.find(({ step }) => step.type === 'DUE')
  if (due === undefined) return undefined
  const reason = 'The processor does not show the money any more that would go back.'
  return failed(deps, checkout, due, { code: paymentNotShown, reason })
}

/** One return for all that is settled and not spoken for; what is not settled yet comes after it. */
function newReturn(checkout: Decided): CheckoutStep | undefined {
  const { returns } = checkout
  const units = unreturnedUnits(checkout)
  if (units <= 0n || worthOf(checkout, units) <= maxKept) return undefined
  const seq = returns.length + 1
  return moveTo({
    ...checkout,
    returns: [...returns, { seq, units, why: whyOf(checkout), step: { type: 'DUE' } }],
  })
}

function whyOf({ state, invoice }: Decided): Return['why'] {
  if (state === 'ORDERED') return 'surplus'
  const isInTime = settledPayments(invoice).some(
    ({ receivedAt }) => receivedAt <= invoice.expiresAt,
  )
  return isInTime ? 'underpaid' : 'late'
}

/** What the payout limits say against sending this now, or undefined when they say nothing. */
async function heldBack(
  deps: CheckoutStepDeps,
  checkout: Decided,
  due: Return,
): Promise<CheckoutStep | undefined> {
  const answer = await deps.checkouts.allowReturn(checkout.id, due.seq)
  switch (answer) {
    case 'granted':
      return undefined
    case 'over_cap':
      return failed(deps, checkout, due, {
        code: 'over_cap',
        reason: 'The return is above the cap for all refunds.',
      })
    case 'stopped':
    case 'hour_cap':
    case 'day_cap':
    case 'payer_share':
      deps.reportCheckout({
        name: 'return_held',
        checkout: checkout.id,
        seq: due.seq,
        reason: answer,
      })
      return wait(slowPollMs)
    default:
      return never(answer)
  }
}

async function send(
  deps: CheckoutStepDeps,
  checkout: Decided,
  sending: Return,
): Promise<CheckoutStep> {
  const { id, coin, network, refundTo: to } = checkout
  const reference = returnReference(id, sending.seq)
  const payout = { reference, coin, network, to, units: sending.units }
  const paid = await deps.watchPayout(reference, await deps.processor.payOut(payout))
  const now = deps.now()
  switch (paid.outcome) {
    case 'paid': {
      const { transaction } = paid
      return step(checkout, sending, { type: 'SENT', transaction, sentAt: now })
    }
    // A payout of the processor never lapses; were it to say so, the same one is asked for again.
    case 'lapsed':
    case 'pending':
      return wait(pollDelay(checkout.changedAt, now))
    case 'blocked':
      return failed(deps, checkout, sending, paid)
    default:
      return never(paid)
  }
}

/** A return that goes on only after an operator acted: no retry would change anything. */
function failed(
  deps: CheckoutStepDeps,
  checkout: Decided,
  { seq, ...rest }: Return,
  { code, reason }: { readonly code: string; readonly reason: string },
): CheckoutStep {
  deps.reportCheckout({ name: 'return_failed', checkout: checkout.id, seq, reason: code })
  return step(checkout, { seq, ...rest }, { type: 'FAILED', code, reason })
}

function step(checkout: Decided, { seq }: Return, next: Return['step']): CheckoutStep {
  const returns = checkout.returns.map((one) => (one.seq === seq ? { ...one, step: next } : one))
  return moveTo({ ...checkout, returns })
}
