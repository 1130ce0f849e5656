import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chargeOf } from '../../api/buying/charge.ts'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import { buy, type PurchaseCall, type PurchaseOutcome, quote } from '../../api/buying/purchase.ts'
import { orderPath, purchasePath } from '../../api/paths.ts'
import { orderBody } from '../../api/views/order.ts'
import { retryAfterSeconds } from '../../api/views/order-message.ts'
import { kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { never } from '../../lib/never.ts'
import { clientKeyOf } from '../client-key.ts'
import {
  answer402,
  bringsPayment,
  httpTransport,
  paymentIn,
  paymentResponse,
} from '../payment-headers.ts'
import { countRefused, lookAtRefused } from '../proof-limit.ts'
import type { Limits } from '../rate-limit.ts'
import { credentialsIn, postedFields, preferredWaitMs, privately } from './buying.ts'
import { quoteFields } from './quote-fields.ts'

const config = { limit: 'purchase', charges: true } as const
const buying = { ...config, findsOrders: true } as const

const replayed = { 'idempotent-replayed': 'true' }

/** Buying: POST moves money, GET only quotes (docs/contributors/decisions/001). */
export function routePurchases(
  app: FastifyInstance,
  deps: BuyingDeps,
  { refused }: Pick<Limits, 'refused'>,
): void {
  for (const kind of kinds) {
    app.post(purchasePath(kind), { config: buying }, async (request, reply) => {
      const outcome = await buy(deps, callIn(kind, request))
      switch (outcome.type) {
        case 'order':
          return sendOrder(deps, reply, outcome)
        case 'standing':
          request.orderId = outcome.orderId
          return answered(reply, outcome.came).headers(replayed).send(outcome.body)
        case 'payment_required':
          return answer402(reply, outcome.required, outcome.more)
        default:
          return never(outcome)
      }
    })
    app.get(purchasePath(kind), { config, exposeHeadRoute: false }, async (request, reply) => {
      const quoted = await quote(deps, kind, quoteFields(request.raw.url ?? ''), {
        mayProve: () => lookAtRefused(refused, request, reply),
        provedNothing: () => countRefused(refused, request),
      })
      return privately(reply).send(quoted)
    })
  }
}

function callIn(kind: Kind, request: FastifyRequest): PurchaseCall {
  const charge = chargeOf(bringsPayment(request))
  request.charge = charge
  return {
    kind,
    fields: postedFields(request),
    presented: paymentIn(request),
    shown: () => credentialsIn(request),
    patienceMs: preferredWaitMs(request),
    transport: httpTransport,
    client: clientKeyOf(request.ip),
    charge,
    heldUp: request.heldUp,
  }
}

async function sendOrder(
  deps: BuyingDeps,
  reply: FastifyReply,
  outcome: Extract<PurchaseOutcome, { type: 'order' }>,
) {
  const { order, came, settled } = outcome
  reply.request.orderId = order.id
  answered(reply, came)
    .headers(paymentResponse(settled))
    .headers(came ? {} : { location: orderPath(order.id) })
    .headers(outcome.replayed ? replayed : {})
  return reply.send(await orderBody(deps.purchases.vault, outcome))
}

function answered(reply: FastifyReply, came: boolean): FastifyReply {
  return privately(reply)
    .status(came ? 200 : 202)
    .headers(came ? {} : { 'retry-after': String(retryAfterSeconds) })
}
