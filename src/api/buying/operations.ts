import * as z from 'zod'
import { goods, kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { kindSchemaFor } from '../../catalog/purchase-body.ts'
import type { Param, Params } from '../../catalog/search/params.ts'
import { ReceiptAnswer } from '../../orders/delivery-receipt.ts'
import { answers, type HeaderParam, type Operation, refusesQuery } from '../operation.ts'
import {
  catalogPrefix,
  orderPath,
  purchasePath,
  receiptPath,
  redeliverPath,
  refundPath,
  titleOf,
  webhookPath,
} from '../paths.ts'
import {
  OrderAnswer,
  OrderList,
  OrderStanding,
  RefundAnswer,
  WebhookAnswer,
} from '../shapes/orders.ts'
import { QuoteAnswer } from '../shapes/payments.ts'
import { orderParams, pageParams } from './order-params.ts'
import { RefundClaim } from './refund-claim.ts'

/** Everything that is asked about buying, described; the manifest lists it in this order. */

const keySchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{16,128}$' }
const idempotencyKey: HeaderParam = {
  schema: {
    ...keySchema,
    description: 'Yours, and new for each purchase. Sent again, it gives the same order.',
  },
}
const bearerHeader = (description: string): Readonly<Record<string, HeaderParam>> => ({
  Authorization: {
    schema: { type: 'string', pattern: '^Bearer [A-Za-z0-9._-]{1,200}$', description },
  },
})
const tokenHeader = bearerHeader(
  'Bearer and the accessToken of the first answer: shows that the order is yours.',
)
const viewerHeaders: Readonly<Record<string, HeaderParam>> = {
  ...tokenHeader,
  'SIGN-IN-WITH-X': {
    schema: { type: 'string', description: 'Sign-in of the wallet that paid: shows the goods.' },
  },
}
/** How a wallet signs in; without it, the answer is 402 with the challenge to sign. */
export const signInHeader: Readonly<Record<string, HeaderParam>> = {
  'SIGN-IN-WITH-X': {
    schema: { type: 'string', description: 'The signed challenge of the 402, base64 of JSON.' },
  },
}

const paymentHeaders: Readonly<Record<string, HeaderParam>> = {
  ...viewerHeaders,
  'PAYMENT-SIGNATURE': {
    schema: { type: 'string', description: 'The signed x402 payment, base64 of JSON.' },
  },
  'Idempotency-Key': idempotencyKey,
  Prefer: {
    schema: {
      type: 'string',
      description: 'wait=N: wait at most N seconds for the goods. respond-async: do not wait.',
    },
  },
}

const paidHeaders = {
  'PAYMENT-RESPONSE': 'The receipt of the payment, once it is proven; base64 of JSON.',
  'Idempotent-Replayed': 'true: this order was opened by an earlier request.',
}
const laterHeaders = {
  Location: 'Where to read the order.',
  'Retry-After': 'Seconds until the next look is worth it.',
}

/** A payment that is sent again without proof that it is the sender's shows where its order stands. */
const repeatable = OrderAnswer.or(OrderStanding)

const offerRefusals = [
  'invalid_body',
  'offer_not_found',
  'offer_unavailable',
  'price_above_maximum',
] as const

export const purchases: readonly (Operation & { readonly kind: Kind })[] = kinds.map((kind) => ({
  id: `purchase${titleOf(kind)}`,
  kind,
  method: 'POST',
  path: purchasePath(kind),
  group: 'Buying',
  name: goods[kind].words.purchase,
  description: `${goods[kind].words.buys} Send it without a payment first: the 402 names the exact price. Sign that and send the same request with the payment. ${goods[kind].refundRule}`,
  headers: paymentHeaders,
  body: kindSchemaFor(kind),
  answers: {
    200: { description: 'Paid and delivered', shape: repeatable, headers: paidHeaders },
    202: {
      description:
        'Not delivered yet, or it is not known yet whether the money moved. Look again; never pay again.',
      shape: repeatable,
      headers: { ...paidHeaders, ...laterHeaders },
    },
  },
  refusals: [
    ...offerRefusals,
    'unknown_parameter',
    'invalid_json',
    'invalid_header',
    'unsupported_media_type',
    'body_too_large',
    'payment_invalid',
    'payment_mismatch',
    'payment_reused',
    'idempotency_conflict',
    'sign_in_invalid',
    'limit_exceeded',
    'approval_required',
    'approval_declined',
    'budget_spent',
    'store_paused',
    'try_again',
    'too_costly',
  ],
  limit: 'purchase',
  access: { pays: kind },
}))

export const quotes: readonly (Operation & { readonly kind: Kind })[] = kinds.map((kind) => ({
  id: `quote${titleOf(kind)}`,
  kind,
  method: 'GET',
  path: purchasePath(kind),
  group: 'Buying',
  name: `Price of one ${goods[kind].words.noun}`,
  description:
    'The check of a purchase and its exact price, free. Takes the fields of the body in the query; nothing is stored.',
  query: quoteParamsOf(kind),
  needs: kindSchemaFor(kind)['required'] as readonly string[],
  answers: answers('The price', QuoteAnswer),
  refusals: [...offerRefusals, 'invalid_parameter', 'repeated_parameter', 'store_paused'],
  limit: 'purchase',
  access: 'free',
}))

const orderId = {
  orderId: { type: 'string', description: 'From the answer to the purchase' },
}

export const getOrder: Operation = {
  id: 'getOrder',
  method: 'GET',
  path: orderPath('{orderId}'),
  group: 'Orders',
  name: 'Order status',
  description:
    'The state of any order, for whoever knows its id. The goods only with the access token or a sign-in of the paying wallet.',
  pathParams: orderId,
  headers: viewerHeaders,
  answers: answers('The order', OrderAnswer),
  refusals: ['order_not_found', 'sign_in_invalid', 'invalid_header', 'try_again'],
  limit: 'reading',
  access: 'free',
}

export const findOrders: Operation = {
  id: 'findOrders',
  method: 'GET',
  path: `${catalogPrefix}/orders`,
  group: 'Orders',
  name: 'List orders',
  description:
    'The orders of the wallet that signs in, newest first, with a token that lists them for 2 hours; or one order by its paymentId; or where the order of a transactionHash stands, and the order itself for whoever shows that it is theirs.',
  query: orderParams,
  headers: {
    ...viewerHeaders,
    ...bearerHeader(
      'Bearer and the listToken of an earlier sign-in: lists the orders of its wallet. For one order, Bearer and its accessToken.',
    ),
  },
  answers: answers(
    'A page of orders, or the one order, or where it stands',
    OrderList.or(OrderAnswer).or(OrderStanding),
  ),
  refusals: [...refusesQuery, 'order_not_found', 'sign_in_invalid', 'invalid_header', 'try_again'],
  limit: 'reading',
  access: 'sign_in',
}

const listEsimOrders: Operation = {
  id: 'listEsimOrders',
  method: 'GET',
  path: `${catalogPrefix}/esims/orders/info`,
  group: 'Orders',
  name: 'List eSIM orders',
  description:
    'The eSIM orders of the wallet that signs in, newest first, with a token that lists them for 2 hours.',
  query: pageParams,
  headers: {
    ...signInHeader,
    ...bearerHeader(
      'Bearer and the listToken of an earlier sign-in: lists the orders of its wallet.',
    ),
  },
  answers: answers('A page of orders', OrderList),
  refusals: [...refusesQuery, 'sign_in_invalid', 'try_again'],
  limit: 'reading',
  access: 'sign_in',
}

const refund = {
  path: refundPath('{orderId}'),
  group: 'Orders',
  pathParams: orderId,
  access: 'free',
} as const

const pending = {
  description: 'The money is on its way back. Look again.',
  shape: RefundAnswer,
  headers: laterHeaders,
}

const claimRefund: Operation = {
  ...refund,
  id: 'claimRefund',
  method: 'POST',
  name: 'Claim a refund',
  description:
    'Starts or reports the refund of an order that failed. Refunds start by themselves, so a claim is never needed; it always goes to the wallet that paid, in full.',
  headers: { ...tokenHeader, 'Idempotency-Key': { ...idempotencyKey, required: true } },
  body: z.toJSONSchema(RefundClaim),
  answers: { 200: { description: 'Paid back', shape: RefundAnswer }, 202: pending },
  refusals: [
    'idempotency_key_missing',
    'idempotency_conflict',
    'unknown_parameter',
    'invalid_body',
    'invalid_json',
    'invalid_header',
    'unsupported_media_type',
    'body_too_large',
    'order_not_found',
    'not_refundable',
    'refund_destination_refused',
    'budget_spent',
    'try_again',
  ],
  limit: 'purchase',
}

export const getRefund: Operation = {
  ...refund,
  id: 'getRefund',
  method: 'GET',
  name: 'Watch a refund',
  description: 'The refund of an order that failed.',
  answers: { 200: { description: 'Paid back', shape: RefundAnswer }, 202: pending },
  refusals: ['order_not_found', 'not_refundable', 'try_again'],
  limit: 'reading',
}

const getReceipt: Operation = {
  id: 'getReceipt',
  method: 'GET',
  path: receiptPath('{orderId}'),
  group: 'Orders',
  name: 'Delivery receipt',
  description:
    'What was paid and delivered, signed (JWS) by the keys of /.well-known/jwks.json. The goods stand beside it for whoever may see them.',
  pathParams: orderId,
  headers: viewerHeaders,
  answers: answers('The receipt', ReceiptAnswer),
  refusals: ['invalid_header', 'order_not_found', 'no_receipt', 'sign_in_invalid', 'try_again'],
  limit: 'reading',
  access: 'free',
}

const webhookRefusals = [
  'invalid_header',
  'order_not_found',
  'no_webhook',
  'sign_in_invalid',
  'try_again',
] as const

const getWebhook: Operation = {
  id: 'getWebhook',
  method: 'GET',
  path: webhookPath('{orderId}'),
  group: 'Orders',
  name: 'Webhook of an order',
  description:
    'What became of the events that were sent to the webhookUrl of a purchase, for whoever shows that the order is theirs.',
  pathParams: orderId,
  headers: viewerHeaders,
  answers: answers('The webhook', WebhookAnswer),
  refusals: webhookRefusals,
  limit: 'reading',
  access: 'free',
}

const redeliverWebhook: Operation = {
  id: 'redeliverWebhook',
  method: 'POST',
  path: redeliverPath('{orderId}'),
  group: 'Orders',
  name: 'Send events again',
  description:
    'Sends all events of an order to its webhook again, in order, each with the webhook-id that it has. At most once a minute.',
  pathParams: orderId,
  headers: viewerHeaders,
  answers: { 202: { description: 'They are being sent', shape: WebhookAnswer } },
  refusals: [
    ...webhookRefusals,
    'unknown_parameter',
    'invalid_json',
    'unsupported_media_type',
    'body_too_large',
  ],
  limit: 'purchase',
  access: 'free',
}

/** In the order in which the manifest lists them. */
export const orderOperations: readonly Operation[] = [
  listEsimOrders,
  findOrders,
  getOrder,
  getReceipt,
  claimRefund,
  getRefund,
  getWebhook,
  redeliverWebhook,
]

/** The fields of the body as parameters of a query; the text of each is checked with the offer. */
function quoteParamsOf(kind: Kind): Params {
  const { properties } = kindSchemaFor(kind) as {
    properties: Record<string, Param<string>['schema']>
  }
  const entries = Object.entries(properties).map(
    ([name, schema]) =>
      [
        name,
        {
          schema: { description: 'From a search or the catalog', ...schema },
          read: (_: string, text: string) => text,
        },
      ] as const,
  )
  return Object.fromEntries(entries)
}
