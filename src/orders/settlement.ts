import { never } from '../lib/never.ts'
import { blockOf, type Receipt } from '../payments/payment.ts'
import { railOf } from '../payments/ports.ts'
import { isSentEnough } from './collect.ts'
import { type PaidOrder, paymentWatchMs } from './order.ts'
import type { StepDeps } from './steps.ts'

/** What is new about a payment. */
type Assured = Pick<PaidOrder, 'settlement' | 'receipt'>

/** Whether it is time to look at a payment again that was seen a while ago and may still vanish. */
export function isToBeWatched({ settlement, paidAt }: PaidOrder, now: Date): boolean {
  return settlement === 'SEEN' && now.getTime() - paidAt.getTime() >= paymentWatchMs
}

/**
 * Checks whether a payment that was seen can still vanish, or has vanished. A payment that the chain dropped
 * is sent again: the buyer has signed it, and it may still land in another block.
 *
 * @returns undefined while nothing new is known
 */
export async function assure(deps: StepDeps, order: PaidOrder): Promise<Assured | undefined> {
  const { tender, receipt } = order
  const confirmation = await railOf(deps.rails, tender).confirmationOf(tender, receipt)
  switch (confirmation) {
    case 'final':
      return { settlement: 'FINAL', receipt }
    case 'gone':
      return collectAgain(deps, order)
    case 'not_yet':
    case 'unknown':
      return undefined
    default:
      return never(confirmation)
  }
}

async function collectAgain(deps: StepDeps, order: PaidOrder): Promise<Assured | undefined> {
  const { id, tender, receipt } = order
  deps.report({ name: 'payment_vanished', order: id })
  const how = { onlyLooks: isSentEnough(order) }
  const collected = await railOf(deps.rails, tender).collect(tender, how)
  switch (collected.outcome) {
    case 'settled':
      // It is where it was before. The two answers contradict each other, so nothing new is known.
      return isSame(collected.receipt, receipt)
        ? undefined
        : { settlement: 'SEEN', receipt: collected.receipt }
    case 'failed':
      deps.report({ name: 'payment_lost', order: id, reason: collected.code })
      return { settlement: 'LOST', receipt }
    case 'unknown':
      return undefined
    default:
      return never(collected)
  }
}

function isSame(one: Receipt, other: Receipt): boolean {
  return one.transaction === other.transaction && blockOf(one) === blockOf(other)
}
