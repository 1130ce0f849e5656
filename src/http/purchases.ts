import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { buy, type PurchaseCall, type PurchaseOutcome, purchases } from '../api/buying/purchase.ts'
import type { BuyingDeps } from '../api/deps.ts'
import { retryAfterSeconds } from '../api/extensions/policies.ts'
import { orderBody } from '../api/orders/order.ts'
import { orderPath } from '../api/paths.ts'
import type { Kind } from '../catalog/offer.ts'
import { never } from '../lib/errors.ts'
import { credentialsIn, postedFields, preferredWaitMs } from './call.ts'
import { configOf } from './operations.ts'
import {
  answer402,
  httpTransport,
  paymentIn,
  paymentResponse,
  privately,
} from './payment-headers.ts'
import { clientKeyOf } from './rate-limit.ts'

const replayed = { 'idempotent-replayed': 'true' }

/** Buying: POST moves money, GET only quotes (docs/contributors/decisions/001). */
export function routePurchases(app: FastifyInstance, deps: BuyingDeps): void {
  for (const operation of purchases) {
    const config = { ...configOf(operation), findsOrders: true }
    app.post(operation.path, { config }, async (request, reply) => {
      const outcome = await buy(deps, purchaseCallIn(operation.kind, request))
      switch (outcome.type) {
        case 'order':
          return sendOrder(deps, reply, outcome)
        case 'standing':
          request.orderId = outcome.orderId
          request.provesNothing = true
          return answered(reply, outcome.came).headers(replayed).send(outcome.body)
        case 'payment_required':
          return answer402(reply, outcome.required, outcome.more)
        default:
          return never(outcome)
      }
    })
  }
}

function purchaseCallIn(kind: Kind, request: FastifyRequest): PurchaseCall {
  return {
    kind,
    fields: postedFields(request),
    presented: paymentIn(request),
    shown: () => credentialsIn(request),
    patienceMs: preferredWaitMs(request),
    transport: httpTransport,
    client: clientKeyOf(request.ip),
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
