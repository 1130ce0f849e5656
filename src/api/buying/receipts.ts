import { Refusal } from '../../lib/refusal.ts'
import { chargedOf, type Order } from '../../orders/order.ts'
import { retryAfterSeconds } from '../views/order-message.ts'
import { receiptAnswer } from '../views/receipt.ts'
import type { BuyingDeps, FaultLog } from './deps.ts'
import { lookAtOrder } from './orders.ts'
import type { Credentials } from './viewer.ts'

/**
 * The signed receipt of an order: for anyone who knows the order, with the goods for whoever paid.
 *
 * @throws Refusal `no_receipt`, besides those of `lookAtOrder`
 */
export async function receiptOf(
  deps: Pick<BuyingDeps, 'orders' | 'signIn' | 'receipts'>,
  orderId: string,
  shown: () => Credentials,
  log: FaultLog,
) {
  const { order, reveal } = await lookAtOrder(deps, { orderId }, shown, log)
  return (await receiptAnswer(deps.receipts, order, reveal)) ?? noReceipt(order)
}

/** A receipt says that money came. This order has none, or not yet. */
function noReceipt(order: Order): never {
  const isOpen = chargedOf(order) === 'unknown'
  const message = isOpen
    ? 'The payment of this order is not proven yet, so there is no receipt. Ask for the order until it is.'
    : 'No money came for this order, so there is no receipt.'
  throw new Refusal('no_receipt', message, {
    charged: chargedOf(order),
    extra: { state: order.state },
    ...(isOpen ? { retryAfterSeconds } : {}),
  })
}
