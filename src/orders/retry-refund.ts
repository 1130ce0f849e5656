import { isRefunding, type Order, payoutStateOf, type Refunding, withPayout } from './order.ts'
import type { OrderStore } from './ports.ts'
import { moveAside } from './workflow.ts'

/**
 * Makes a refund due again that could not be paid, and leaves it to the sweep. It is the same
 * refund, to the same wallet, and it can be paid once. Any other refund is left as it is.
 *
 * @param by anybody may claim, so a refund that a claim has started and that fails as before alarms nobody
 */
export async function retryRefund(
  orders: Pick<OrderStore, 'move' | 'release'>,
  order: Refunding,
  by: 'operator' | 'claim',
): Promise<Refunding> {
  if (order.payout?.state !== 'FAILED') return order
  const known = by === 'claim' ? { knownFault: order.payout.code } : {}
  const { record } = await moveAside(orders, order, withPayout(order, { state: 'DUE', ...known }))
  return isRefunding(record) ? record : order
}

/** Why this refund is not tried again, or undefined when it is. */
export function whyNotTried(order: Order | undefined): string | undefined {
  if (!order) return 'there is no such order'
  if (!isRefunding(order)) return `it is ${order.state} and has no refund`
  const { payout } = order
  if (payout?.state !== 'FAILED') return `its refund has not failed; it is ${payoutStateOf(order)}`
  return order.settlement === 'LOST' || payout.code === 'payment_vanished'
    ? 'its payment vanished from the chain, so nothing is owed'
    : undefined
}
