import { goods } from '../goods/good.ts'
import { Refusal } from '../primitives/refusal.ts'
import type { AdvanceDeps } from './advance.ts'
import { chargedOf, isRefunding, type Order, type Refunding } from './order.ts'
import { retryRefund } from './retry-refund.ts'

export interface RefundClaim {
  /** SHA-256 of the idempotency key. */
  readonly key: string
  /** SHA-256 of the request's body. */
  readonly bodyHash: string
}

/**
 * A buyer asks for the money back. Refunds start by themselves, so a claim reports the one that
 * is under way; it starts one again that could not be paid before.
 *
 * @throws Refusal `not_refundable` with the rule that says so, `idempotency_conflict`
 */
export async function claimRefund(
  deps: Pick<AdvanceDeps, 'orders'>,
  order: Order,
  claim: RefundClaim,
): Promise<Refunding> {
  if (!isRefunding(order)) throw notRefundable(order)
  const use = await deps.orders.claimRefund(order.id, claim.key, claim.bodyHash)
  if (use === 'other_body') {
    const message = 'This Idempotency-Key was used before with another body.'
    throw new Refusal('idempotency_conflict', message, { charged: chargedOf(order) })
  }
  return retryRefund(deps.orders, order)
}

/** Why this order has no refund, with the rule of its kind. */
export function notRefundable(order: Order): Refusal {
  const rule = goods[order.item.kind].refundRule
  const why =
    order.state === 'FULFILLED'
      ? `It was delivered. ${rule}`
      : `It is ${order.state}: nothing has failed that a refund could make good. ${rule}`
  return new Refusal('not_refundable', `This order is not refundable. ${why}`, {
    charged: chargedOf(order),
    extra: { state: order.state, refund_rule: rule },
  })
}
