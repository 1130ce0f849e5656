import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Kind } from '../../goods/offer.ts'
import { mayReveal } from '../../orders/access.ts'
import { isUnderWay, type Order, refundStateOf } from '../../orders/order.ts'
import { isOrderId, isPaymentId } from '../../primitives/ids.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { sendSignInRequired, signedInWallet } from '../sign-in.ts'
import { orderBody, orderItem } from '../views/order.ts'
import { type BuyingDeps, orNotNow, privately, viewerOf } from './buying.ts'
import { orderQuery, pageQuery } from './order-query.ts'

/** How often an agent should ask for an order; seconds (service.md, Limits). */
export const retryAfterSeconds = 5

export function orderPath(orderId: string): string {
  return `/api/catalog/orders/${orderId}`
}

const limited = { config: { limit: 'reading' } } as const

/** Reading orders: one by what its buyer knows of it, all by the wallet that paid (decisions 5). */
export function routeOrders(app: FastifyInstance, deps: BuyingDeps): void {
  app.get('/api/catalog/orders/:orderId', limited, async (request, reply) => {
    const { orderId } = request.params as { orderId: string }
    return sendOrder(deps, request, reply, () => findOrder(deps, orderId))
  })
  app.get('/api/catalog/orders', limited, async (request, reply) => {
    const { transactionHash, paymentId, ...page } = orderQuery(request)
    if (transactionHash === undefined && paymentId === undefined) {
      return sendList(deps, request, reply, page)
    }
    return sendOrder(deps, request, reply, () => lookUp(deps, transactionHash, paymentId))
  })
  app.get('/api/catalog/esims/orders/info', limited, (request, reply) =>
    sendList(deps, request, reply, pageQuery(request), 'esim'),
  )
}

/** @throws Refusal `order_not_found`, the same for an id that never was and one that is not yours */
export async function findOrder(
  { orders }: Pick<BuyingDeps, 'orders'>,
  id: string,
): Promise<Order> {
  const order = isOrderId(id) ? await orders.find(id) : undefined
  if (order === undefined) throw notFound()
  return order
}

async function lookUp({ orders }: BuyingDeps, hash?: string, paymentId?: string): Promise<Order> {
  const byHash = hash === undefined ? undefined : await orders.findByTransaction(hash)
  if (paymentId === undefined) return byHash ?? throwNotFound()
  const byId = isPaymentId(paymentId) ? await orders.findByPaymentId(paymentId) : undefined
  const agree = hash === undefined || byHash?.id === byId?.id
  return byId && agree ? byId : throwNotFound()
}

async function sendOrder(
  deps: BuyingDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  found: () => Promise<Order>,
) {
  const { order, reveal } = await orNotNow(request, async () => {
    const order = await found()
    return { order, reveal: await mayReveal(deps.orders, order, await viewerOf(deps, request)) }
  })
  const waits = isUnderWay(order) || refundStateOf(order) === 'REFUND_PENDING'
  return privately(reply)
    .headers(waits ? { 'retry-after': String(retryAfterSeconds) } : {})
    .send(await orderBody(deps.purchases.vault, { order, reveal }))
}

async function sendList(
  deps: BuyingDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  page: { readonly limit: number; readonly offset: number },
  kind?: Kind,
) {
  const wallet = await orNotNow(request, () =>
    signedInWallet(deps.signIn, request.headers['sign-in-with-x']),
  )
  if (wallet === undefined) {
    const [path = ''] = request.url.split('?')
    return sendSignInRequired(reply, deps.signIn, {
      path,
      description: 'Orders of the wallet that signs in',
      statement: 'Show the orders that this wallet paid for.',
    })
  }
  const asked = { ...page, ...(kind === undefined ? {} : { kind }) }
  const { total, items } = await orNotNow(request, () => deps.orders.listByPayer(wallet, asked))
  return privately(reply).send({ total, ...page, items: items.map(orderItem) })
}

function notFound(): Refusal {
  return new Refusal('order_not_found', 'There is no such order.')
}

function throwNotFound(): never {
  throw notFound()
}
