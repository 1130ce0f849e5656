import { never } from '../lib/never.ts'
import { blockOf, type Receipt } from '../payments/payment.ts'
import { railOf } from '../payments/ports.ts'
import { isSentEnough } from './collect.ts'
import { type PaidOrder, paymentWatchMs } from './order.ts'
import type { StepDeps } from './steps.ts'

/** What has changed about a payment, as far as it is known now. */
type Assured = Pick<PaidOrder, 'settlement' | 'receipt'>

/** Whether it is time to look at the payment again: it may still vanish, and was seen a while ago. */
export function isToBeWatched({ settlement, paidAt }: PaidOrder, now: Date): boolean {
  return settlement === 'SEEN' && now.getTime() - paidAt.getTime() >= paymentWatchMs
}

/**
 * Looks whether a payment that was seen can still vanish, or has. One that the chain dropped is sent
 * again: the buyer signed it, and it may still land in another block.
 *
 * @returns undefined while nothing is known that was not known before
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
      // Where it was before: the two answers do not fit together, so nothing new is known.
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
