import { goods } from '../catalog/good.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Digest } from '../secrets/tokens.ts'
import { type BudgetRules, budgetSpent, clientDigest } from './budgets.ts'
import { chargedOf, isRefunding, type Order, type Refunding } from './order.ts'
import type { KeptClaim, OrderStore } from './ports.ts'
import { retryRefund } from './refund.ts'
import type { Reporter } from './report.ts'

export interface RefundClaim extends Omit<KeptClaim, 'client'> {
  /** The address that it came from, as limits count it. */
  readonly client?: string | undefined
  /** Whether the claimant shows that the order is theirs. */
  readonly isOwn?: (() => Promise<boolean>) | undefined
}

export interface ClaimDeps {
  readonly orders: Pick<OrderStore, 'claimRefund' | 'move' | 'release'>
  readonly budgets: BudgetRules
  readonly digest: Digest
  readonly report: Reporter
}

/**
 * Answers a buyer who asks for the money back. Refunds start by themselves, so a claim only reports the refund
 * that is under way, or starts a failed one again, once. Anybody who knows the order may claim, because the
 * money goes to its payer. Claims without proof of ownership are few in an hour, and use up none of the
 * owner's.
 *
 * @throws Refusal `not_refundable` with the rule that says so, `idempotency_conflict`, `budget_spent`
 */
export async function claimRefund(
  deps: ClaimDeps,
  order: Order,
  { isOwn, ...claim }: RefundClaim,
): Promise<Refunding> {
  if (!isRefunding(order)) throw notRefundable(order)
  const kept = { ...claim, client: clientDigest(deps, claim.client) }
  const rules = (await isOwn?.()) ? { ...deps.budgets, order: {} } : deps.budgets
  const use = await deps.orders.claimRefund(order, kept, rules)
  if (typeof use === 'object') throw budgetSpent(deps, use, chargedOf(order))
  if (use === 'other_body') {
    const message = 'This Idempotency-Key was used before with another body.'
    throw new Refusal('idempotency_conflict', message, { charged: chargedOf(order) })
  }
  return use === 'used' ? order : retryRefund(deps.orders, order, 'claim')
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
