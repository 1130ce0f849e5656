import { never } from '../lib/never.ts'
import { type Collected, railOf } from '../payments/ports.ts'
import type { In, Next, Order } from './order.ts'
import type { Step, StepDeps } from './steps.ts'
import { intend, moveTo, pollDelay, wait } from './workflow.ts'

/**
 * How often a payment is sent that is reverted. An estimate finds nearly everything that would be, for
 * nothing, and an honest payment meets another transaction in its block: hardly ever twice. A smart
 * wallet, however, can say yes to every estimate and no in every block, and would have us pay for that
 * until the authorization ends. Anybody may still submit such a payment, and the logs tell.
 */
const maxReverts = 3

/** How often a payment is looked at that the store cannot send any more. */
const rarestLookMs = 60_000

/**
 * Takes the money. While it is unknown whether it moved, the order stays as it is: only the chain
 * can say, and a new demand for payment would make an honest buyer pay twice.
 */
export async function collect(
  deps: StepDeps,
  order: In<'PAYMENT_PENDING'>,
): Promise<Step<Next<'PAYMENT_PENDING'>>> {
  const listing = deps.listingOf?.(order.item.kind)
  const how = { listing, onlyLooks: isSentEnough(order) }
  const collected = await railOf(deps.rails, order.tender).collect(order.tender, how)
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

/** Whether the store has paid for enough reverts of this payment, and sends it no more. */
export function isSentEnough({ reverts = 0 }: Order): boolean {
  return reverts >= maxReverts
}

/** What a revert has cost is on record, for the budgets of who caused it. */
function withReverts<T extends In<'PAYMENT_PENDING'>>(
  order: T,
  { wasted = 0 }: Exclude<Collected, { outcome: 'settled' }>,
): T {
  return wasted > 0 ? { ...order, reverts: (order.reverts ?? 0) + wasted } : order
}

/**
 * Quick looks bring the money in soon, and send a payment again that the chain has dropped. Once the
 * store sends it no more, or its time is over, only others can move it, or a safe block prove that
 * nobody will, and looking costs calls to the chain.
 */
function pauseBefore(order: In<'PAYMENT_PENDING'>, now: Date): number {
  const { tender } = order
  const isOver = tender.rail === 'x402' && now.getTime() >= tender.validBefore * 1_000
  return isOver || isSentEnough(order)
    ? pollDelay(order.placedAt, now, rarestLookMs)
    : pollDelay(order.placedAt, now)
}
