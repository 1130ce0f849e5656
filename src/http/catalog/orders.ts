import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import { lookUpIn, pageIn } from '../../api/buying/order-params.ts'
import { listAsk, listOwnOrders, lookAtOrder, type OrderQuery } from '../../api/buying/orders.ts'
import { signInRequired } from '../../api/buying/sign-in.ts'
import { foundOrder } from '../../api/views/order.ts'
import { retryAfterSeconds } from '../../api/views/order-message.ts'
import type { Kind } from '../../catalog/offer.ts'
import { inQuery } from '../in-query.ts'
import { bearerOf, credentialsIn, privately, sendSignInRequired } from './buying.ts'

const limited = { config: { limit: 'reading' } } as const

/** Reading orders: one by what its buyer knows of it, all for the wallet that paid. */
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
  const [path = ''] = request.url.split('?')
  const ask = listAsk(path)
  const shown = { signIn: request.headers['sign-in-with-x'], accessToken: bearerOf(request) }
  const list = await listOwnOrders(deps, shown, ask, { ...page, kind }, request.log)
  if (list === undefined) return sendSignInRequired(reply, signInRequired(deps.signIn, ask))
  return privately(reply).send(list)
}
