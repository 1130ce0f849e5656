import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import { orNotNow } from '../../api/buying/or-not-now.ts'
import { lookUpIn, pageIn } from '../../api/buying/order-params.ts'
import { listOrders, lookAtOrder, type OrderQuery, ordersAsk } from '../../api/buying/orders.ts'
import { signedInWallet, signInRequired } from '../../api/buying/sign-in.ts'
import { foundOrder } from '../../api/views/order.ts'
import { retryAfterSeconds } from '../../api/views/order-message.ts'
import type { Kind } from '../../catalog/offer.ts'
import { inQuery } from '../in-query.ts'
import { credentialsIn, privately, sendSignInRequired } from './buying.ts'

const limited = { config: { limit: 'reading' } } as const

/** Reading orders: one by what its buyer knows of it, all by the wallet that paid. */
export function routeOrders(app: FastifyInstance, deps: BuyingDeps): void {
  app.get('/api/catalog/orders/:orderId', limited, async (request, reply) => {
    const { orderId } = request.params as { orderId: string }
    return sendOrder(deps, request, reply, { orderId })
  })
  app.get('/api/catalog/orders', limited, async (request, reply) => {
    const { transactionHash, paymentId, ...page } = lookUpIn(inQuery(request.url))
    if (transactionHash === undefined && paymentId === undefined) {
      return sendList(deps, request, reply, page)
    }
    return sendOrder(deps, request, reply, { transactionHash, paymentId })
  })
  app.get('/api/catalog/esims/orders/info', limited, (request, reply) =>
    sendList(deps, request, reply, pageIn(inQuery(request.url)), 'esim'),
  )
}

async function sendOrder(
  deps: BuyingDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  query: OrderQuery,
) {
  const { waits, ...found } = await lookAtOrder(
    deps,
    query,
    () => credentialsIn(request),
    request.log,
  )
  return privately(reply)
    .headers(waits ? { 'retry-after': String(retryAfterSeconds) } : {})
    .send(await foundOrder(deps.purchases.vault, found))
}

async function sendList(
  deps: BuyingDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  page: { readonly limit: number; readonly offset: number },
  kind?: Kind,
) {
  const wallet = await orNotNow(request.log, () =>
    signedInWallet(deps.signIn, request.headers['sign-in-with-x']),
  )
  if (wallet === undefined) {
    const [path = ''] = request.url.split('?')
    return sendSignInRequired(reply, signInRequired(deps.signIn, ordersAsk(path)))
  }
  return privately(reply).send(await listOrders(deps, wallet, { ...page, kind }, request.log))
}
