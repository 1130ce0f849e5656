import { never } from '../lib/errors.ts'
import { blockOf, type Receipt } from '../payments/payment.ts'
import { type Collected, methodOf } from '../payments/ports.ts'
import { type In, type Next, type Order, type PaidOrder, paymentWatchMs } from './order.ts'
import type { Step, StepDeps } from './ports.ts'
import { intend, moveTo, pollDelay, wait } from './workflow.ts'

/**
 * An estimate finds almost every revert without cost, but a smart wallet can pass every estimate and revert in every
 * block, at the store's expense. Others may still submit the payment; the chain's logs show it.
 */
const maxReverts = 3

/** The longest time between two checks of a payment that the store no longer sends; milliseconds. */
const rarestLookMs = 60_000

/** While it is unknown whether the money moved, asking for another payment would make an honest buyer pay twice. */
export async function collect(
  deps: StepDeps,
  order: In<'PAYMENT_PENDING'>,
): Promise<Step<Next<'PAYMENT_PENDING'>>> {
  const listing = deps.listingOf?.(order.item.kind)
  const how = { listing, onlyLooks: isSentEnough(order) }
  const collected = await methodOf(deps.methods, order.payment).collect(order.payment, how)
  const now = deps.now()
  switch (collected.outcome) {
    case 'settled': {
      const { receipt } = collected
      const deliverBy = new Date(now.getTime() + deps.policy.deliverWithinMs)
      return moveTo({
        ...order,
        state: 'PAID',
        changedAt: now,
        receipt,
        settlement: 'SEEN',
        paidAt: now,
        deliverBy,
      })
    }
    case 'failed': {
      const { code, reason } = collected
      const counted = withReverts(order, collected)
      return moveTo({ ...counted, state: 'PAYMENT_FAILED', changedAt: now, code, reason })
    }
    case 'unknown': {
      const counted = withReverts(order, collected)
      const pause = wait(pauseBefore(counted, now))
      return counted === order ? pause : intend(counted, async () => pause)
    }
    default:
      return never(collected)
  }
}

function isSentEnough({ reverts = 0 }: Order): boolean {
  return reverts >= maxReverts
}

/** Reverts are put on record, because they count in the budgets of the payer. */
function withReverts<T extends Order>(
  order: T,
  { wasted = 0 }: Exclude<Collected, { outcome: 'settled' }>,
): T {
  return wasted > 0 ? { ...order, reverts: (order.reverts ?? 0) + wasted } : order
}

/** Once the store would not send it again, only others can submit it, and each check costs calls to the chain. */
function pauseBefore(order: In<'PAYMENT_PENDING'>, now: Date): number {
  const { payment } = order
  const isOver = payment.method === 'x402' && now.getTime() >= payment.validBefore * 1_000
  return isOver || isSentEnough(order)
    ? pollDelay(order.placedAt, now, rarestLookMs)
    : pollDelay(order.placedAt, now)
}

export function isToBeWatched({ settlement, paidAt }: PaidOrder, now: Date): boolean {
  return settlement === 'SEEN' && now.getTime() - paidAt.getTime() >= paymentWatchMs
}

/** A payment that the chain dropped is sent again. Returns the same order while nothing is new. */
export async function assure<T extends PaidOrder>(deps: StepDeps, order: T): Promise<T> {
  const { payment, receipt } = order
  const confirmation = await methodOf(deps.methods, payment).confirmationOf(payment, receipt)
  switch (confirmation) {
    case 'final':
      return { ...order, settlement: 'FINAL' }
    case 'gone':
      return collectAgain(deps, order)
    case 'not_yet':
    case 'unknown':
      return order
    default:
      return never(confirmation)
  }
}

/** An order about whose payment nothing is new, except for reverts, goes on. */
export async function recordCheck<T extends PaidOrder, To extends Order>(
  order: T,
  assured: T,
  goOn: (saved: T) => Step<To> | Promise<Step<To>>,
): Promise<Step<T | To>> {
  if (assured === order) return goOn(order)
  const isNew = assured.settlement !== order.settlement || assured.receipt !== order.receipt
  return isNew ? moveTo(assured) : intend(assured, async (saved) => goOn(saved))
}

async function collectAgain<T extends PaidOrder>(deps: StepDeps, order: T): Promise<T> {
  const { id, payment, receipt } = order
  deps.report({ name: 'payment_vanished', order: id })
  const how = { onlyLooks: isSentEnough(order) }
  const collected = await methodOf(deps.methods, payment).collect(payment, how)
  switch (collected.outcome) {
    case 'settled':
      // The payment is where it was. The two answers contradict each other, so nothing new is known.
      return isSame(collected.receipt, receipt)
        ? order
        : { ...order, settlement: 'SEEN', receipt: collected.receipt }
    case 'failed':
      deps.report({ name: 'payment_lost', order: id, reason: collected.code })
      return { ...withReverts(order, collected), settlement: 'LOST' }
    case 'unknown':
      return withReverts(order, collected)
    default:
      return never(collected)
  }
}

function isSame(one: Receipt, other: Receipt): boolean {
  return one.transaction === other.transaction && blockOf(one) === blockOf(other)
}
