import { isRefunding, type Order, type Refunding } from './order.ts'
import type { OrderStore } from './ports.ts'

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
  if (order.refund.step !== 'FAILED') return order
  const known = by === 'claim' ? { knownFault: order.refund.code } : {}
  const moved = await orders.move(order, { ...order, refund: { step: 'DUE', ...known } })
  if (moved.won) await orders.release(moved.order, 0)
  return isRefunding(moved.order) ? moved.order : order
}

/** Why this refund is not tried again, or undefined when it is. */
export function whyNotTried(order: Order | undefined): string | undefined {
  if (!order) return 'there is no such order'
  if (!isRefunding(order)) return `it is ${order.state} and has no refund`
  const { refund } = order
  if (refund.step !== 'FAILED') return `its refund has not failed; it is ${refund.step}`
  return order.settlement === 'LOST' || refund.code === 'payment_vanished'
    ? 'its payment vanished from the chain, so nothing is owed'
    : undefined
}
