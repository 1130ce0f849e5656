import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { goods, kinds } from '../../goods/good.ts'
import type { Kind, Offer } from '../../goods/offer.ts'
import { retailOf } from '../../goods/pricing.ts'
import { bodySchemaFor, kindSchemaFor } from '../../goods/purchase-body.ts'
import { price, termsFor } from '../../orders/price.ts'
import { type PurchaseAnswer, purchase } from '../../orders/purchase.ts'
import { termsOf, termsValidSeconds } from '../../payments/terms.ts'
import { formatUsdc, usdc, usdcDecimals } from '../../primitives/money.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { orderPath, retryAfterSeconds } from '../order-address.ts'
import { paymentResponse, presentedPayment, purchasePath, sendPaymentRequired } from '../paywall.ts'
import { orderBody } from '../views/order.ts'
import { type BuyingDeps, fieldsOf, preferredWaitMs, privately, viewerOf } from './buying.ts'
import { quoteFields } from './quote-fields.ts'

const config = { limit: 'purchase', charges: true } as const

/** Buying: POST moves money, GET only quotes (decisions 4). */
export function routePurchases(app: FastifyInstance, deps: BuyingDeps): void {
  for (const kind of kinds) {
    app.post(purchasePath(kind), { config }, (request, reply) => buy(deps, kind, request, reply))
    app.get(purchasePath(kind), { config, exposeHeadRoute: false }, (request, reply) =>
      quote(deps, kind, request, reply),
    )
  }
}

async function buy(deps: BuyingDeps, kind: Kind, request: FastifyRequest, reply: FastifyReply) {
  const fields = fieldsOf(request.body)
  const presented = presentedPayment(request.headers['payment-signature'])
  if (presented.type === 'none' && Object.keys(fields).length === 0) return probe(deps, kind, reply)
  if (presented.type === 'unreadable')
    return unreadable(deps, kind, fields, presented.reason, reply)

  const payment = presented.type === 'payment' ? presented.payment : undefined
  const viewer = await viewerOf(deps, request, payment)
  const patienceMs = preferredWaitMs(request)
  const answer = await purchase(deps.purchases, { kind, fields, payment, viewer, patienceMs })
  return answer.type === 'order'
    ? sendOrder(deps, reply, answer)
    : demand(deps, kind, reply, answer)
}

/** The full validation and the exact amount, without a payment. Nothing is stored. */
async function quote(deps: BuyingDeps, kind: Kind, request: FastifyRequest, reply: FastifyReply) {
  const priced = price(deps.purchases, kind, quoteFields(request.raw.url ?? ''))
  const terms = termsFor(deps.purchases, priced)
  const now = deps.purchases.now()
  return privately(reply).send({
    offerId: priced.offer.id,
    kind,
    usdc: { amount: terms.amount, decimals: usdcDecimals },
    display: `${formatUsdc(usdc(terms.amount))} USDC`,
    validUntil: new Date(now.getTime() + termsValidSeconds * 1_000).toISOString(),
    accepts: [terms],
    purchase: { method: 'POST', url: `${deps.site.url}${purchasePath(kind)}` },
    refundRule: goods[kind].refundRule,
  })
}

/** What an indexer's empty call gets: the lowest price of the kind, and how the route is used. */
function probe(deps: BuyingDeps, kind: Kind, reply: FastifyReply) {
  const { shelf, till } = deps.purchases
  const lowest = shelf.current().lowest[kind]
  if (lowest === undefined) {
    throw new Refusal('offer_unavailable', `No ${kind} is on sale just now.`, { charged: 'no' })
  }
  return sendPaymentRequired(reply, deps.paywall, {
    kind,
    terms: termsOf(lowest, till),
    validSeconds: termsValidSeconds,
    error: `Payment required: name an offerId for its exact price; this is the lowest price of any ${kind}`,
    description: `Buy a ${kind}. Find its offerId at ${deps.site.url}/ai/${kind}s`,
    bodySchema: kindSchemaFor(kind),
  })
}

/** A payment that cannot be read buys nothing and is stored nowhere. */
function unreadable(
  deps: BuyingDeps,
  kind: Kind,
  fields: Record<string, unknown>,
  reason: string,
  reply: FastifyReply,
) {
  const priced = price(deps.purchases, kind, fields)
  const { offer } = priced
  const fault = { code: 'payment_invalid', reason }
  const terms = termsFor(deps.purchases, priced)
  return demand(deps, kind, reply, { type: 'payment_required', terms, offer, fault })
}

function demand(
  deps: BuyingDeps,
  kind: Kind,
  reply: FastifyReply,
  { terms, offer, fault }: Extract<PurchaseAnswer, { type: 'payment_required' }>,
) {
  return sendPaymentRequired(reply, deps.paywall, {
    kind,
    terms,
    validSeconds: deps.purchases.quotes.secondsLeft(terms.extra['quote']),
    error: fault?.reason ?? 'Payment required',
    ...(fault ? { code: fault.code } : {}),
    description: describe(offer),
    bodySchema: bodySchemaFor(offer, retailOf(offer, deps.purchases.pricing)),
  })
}

function describe(offer: Offer): string {
  const text = [offer.brandName, offer.shortNotes ?? offer.productType, offer.country ?? '']
  return text
    .map((part) => part.replace(/\.$/, ''))
    .filter((part) => part !== '')
    .join(', ')
}

async function sendOrder(
  deps: BuyingDeps,
  reply: FastifyReply,
  { order, accessToken, replayed, reveal }: Extract<PurchaseAnswer, { type: 'order' }>,
) {
  const came = order.state === 'FULFILLED'
  privately(reply)
    .status(came ? 200 : 202)
    .headers(await paymentResponse(deps.paywall, order))
    .headers(
      came ? {} : { location: orderPath(order.id), 'retry-after': String(retryAfterSeconds) },
    )
    .headers(replayed ? { 'idempotent-replayed': 'true' } : {})
  return reply.send(await orderBody(deps.purchases.vault, { order, reveal, accessToken }))
}
