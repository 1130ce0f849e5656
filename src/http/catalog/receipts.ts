import type { FastifyInstance } from 'fastify'
import { mayReveal } from '../../orders/access.ts'
import { chargedOf, type Order } from '../../orders/order.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { receiptPath, retryAfterSeconds } from '../order-address.ts'
import { receiptAnswer } from '../views/receipt.ts'
import { type BuyingDeps, orNotNow, privately, viewerOf } from './buying.ts'
import { findOrder } from './orders.ts'

/** Receipts: signed for anyone who knows the order, with the goods for whoever paid for them. */
export function routeReceipts(app: FastifyInstance, deps: BuyingDeps): void {
  const limited = { config: { limit: 'reading' } } as const
  app.get(receiptPath(':orderId'), limited, async (request, reply) => {
    const { orderId } = request.params as { orderId: string }
    const { order, reveal } = await orNotNow(request, async () => {
      const order = await findOrder(deps, orderId)
      return { order, reveal: await mayReveal(deps.orders, order, await viewerOf(deps, request)) }
    })
    const answer = await receiptAnswer(deps.receipts, order, reveal)
    if (answer === undefined) throw noReceipt(order)
    return privately(reply).send(answer)
  })
}

/** A receipt says that money came. This order has none, or not yet. */
function noReceipt(order: Order): Refusal {
  const isOpen = chargedOf(order) === 'unknown'
  const message = isOpen
    ? 'The payment of this order is not proven yet, so there is no receipt. Ask for the order until it is.'
    : 'No money came for this order, so there is no receipt.'
  return new Refusal('no_receipt', message, {
    charged: chargedOf(order),
    extra: { state: order.state },
    ...(isOpen ? { retryAfterSeconds } : {}),
  })
}
