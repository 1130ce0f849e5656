import { railOf } from '../payments/ports.ts'
import { never } from '../primitives/never.ts'
import type { In, Next } from './order.ts'
import { moveTo, pollDelay, type Step, type StepDeps, wait } from './steps.ts'

/**
 * Takes the money. While it is unknown whether it moved, the order stays as it is: only the chain
 * can say, and a new demand for payment would make an honest buyer pay twice.
 */
export async function collect(
  deps: StepDeps,
  order: In<'PAYMENT_PENDING'>,
): Promise<Step<Next<'PAYMENT_PENDING'>>> {
  const listing = deps.listingOf?.(order.item.kind)
  const collected = await railOf(deps.rails, order.tender).collect(order.tender, listing)
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
      return moveTo({ ...order, state: 'PAYMENT_FAILED', changedAt: now, code, reason })
    }
    case 'unknown':
      return wait(pollDelay(order.placedAt, now))
    default:
      return never(collected)
  }
}
