import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chargeOf } from '../../desk/buying/charge.ts'
import type { BuyingDeps } from '../../desk/buying/deps.ts'
import { buy, type PurchaseCall, type PurchaseOutcome, quote } from '../../desk/buying/purchase.ts'
import { orderPath, purchasePath } from '../../desk/paths.ts'
import { orderBody } from '../../desk/views/order.ts'
import { retryAfterSeconds } from '../../desk/views/order-message.ts'
import { kinds } from '../../goods/good.ts'
import type { Kind } from '../../goods/offer.ts'
import { clientKeyOf } from '../client-key.ts'
import {
  answer402,
  bringsPayment,
  httpDoor,
  paymentResponse,
  presentedPayment,
} from '../payment-headers.ts'
import { postedFields, preferredWaitMs, privately, shownBy } from './buying.ts'
import { quoteFields } from './quote-fields.ts'

const config = { limit: 'purchase', charges: true } as const
const buying = { ...config, findsOrders: true } as const

/** Buying: POST moves money, GET only quotes (docs/decisions/001). */
export function routePurchases(app: FastifyInstance, deps: BuyingDeps): void {
  for (const kind of kinds) {
    app.post(purchasePath(kind), { config: buying }, async (request, reply) => {
      const outcome = await buy(deps, callIn(kind, request))
      return outcome.type === 'order'
        ? sendOrder(deps, reply, outcome)
        : answer402(reply, outcome.required, outcome.more)
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
    presented: presentedPayment(request.headers['payment-signature']),
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
  {
    order,
    accessToken,
    replayed,
    reveal,
    came,
    settled,
  }: Extract<PurchaseOutcome, { type: 'order' }>,
) {
  privately(reply)
    .status(came ? 200 : 202)
    .headers(paymentResponse(settled))
    .headers(
      came ? {} : { location: orderPath(order.id), 'retry-after': String(retryAfterSeconds) },
    )
    .headers(replayed ? { 'idempotent-replayed': 'true' } : {})
  return reply.send(await orderBody(deps.purchases.vault, { order, reveal, accessToken }))
}
