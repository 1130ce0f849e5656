import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chargeOf } from '../../desk/buying/charge.ts'
import type { BuyingDeps } from '../../desk/buying/deps.ts'
import { buy, type PurchaseCall, type PurchaseOutcome, quote } from '../../desk/buying/purchase.ts'
import { orderPath, purchasePath } from '../../desk/paths.ts'
import { orderBody } from '../../desk/views/order.ts'
import { retryAfterSeconds } from '../../desk/views/order-message.ts'
import { kinds } from '../../goods/good.ts'
import type { Kind } from '../../goods/offer.ts'
import { never } from '../../primitives/never.ts'
import { clientKeyOf } from '../client-key.ts'
import {
  answer402,
  bringsPayment,
  httpDoor,
  paymentIn,
  paymentResponse,
} from '../payment-headers.ts'
import { postedFields, preferredWaitMs, privately, shownBy } from './buying.ts'
import { quoteFields } from './quote-fields.ts'

const config = { limit: 'purchase', charges: true } as const
const buying = { ...config, findsOrders: true } as const

const replayed = { 'idempotent-replayed': 'true' }

/** Buying: POST moves money, GET only quotes (docs/decisions/001). */
export function routePurchases(app: FastifyInstance, deps: BuyingDeps): void {
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
    app.get(purchasePath(kind), { config, exposeHeadRoute: false }, async (request, reply) =>
      privately(reply).send(quote(deps, kind, quoteFields(request.raw.url ?? ''))),
    )
  }
}

function callIn(kind: Kind, request: FastifyRequest): PurchaseCall {
  const charge = chargeOf(bringsPayment(request))
  request.charge = charge
  return {
    kind,
    fields: postedFields(request),
    presented: paymentIn(request),
    shown: () => shownBy(request),
    patienceMs: preferredWaitMs(request),
    door: httpDoor,
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
