import * as z from 'zod'
import { goods, kinds } from '../../catalog/good.ts'
import { titleOf } from '../paths.ts'

/** The published shapes of orders and refunds (x402-signals v0.2, sections 6 and 7). */

const kind = z.enum(kinds)
const time = z.iso.datetime()
const atomic = z.string().regex(/^\d+$/)
const transaction = z.string().describe('Transaction hash on the network of the payment')

export const OrderState = z
  .enum([
    'PAYMENT_PENDING',
    'PAYMENT_FAILED',
    'PAID',
    'FULFILLING',
    'FULFILLED',
    'FULFILLMENT_FAILED',
    'EXPIRED',
  ])
  .meta({
    id: 'OrderState',
    description:
      'PAYMENT_PENDING and PAYMENT_FAILED are states of this store, the others those of x402-signals. PAYMENT_PENDING: it is being proven whether the money moved; never pay again meanwhile. PAYMENT_FAILED: proven that it did not. PAID, FULFILLING: the goods are on their way. FULFILLED: delivered. FULFILLMENT_FAILED, EXPIRED: the money goes back by itself.',
  })

const RefundState = z
  .enum(['REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED'])
  .meta({ id: 'RefundState', description: 'REFUND_FAILED: the operator of the store must act.' })

/** What was delivered, as its buyer sees it. */
const Goods = kinds.map((kind) => {
  const { delivery, published } = goods[kind]
  const { kind: _, ...delivered } = delivery.shape
  return z.object({ ...delivered, ...published.goods }).meta({ id: `${titleOf(kind)}Goods` })
})

const OrderError = z
  .object({ code: z.string(), message: z.string(), supplier_code: z.string().optional() })
  .meta({ id: 'OrderError' })

const summary = {
  orderId: z.string(),
  kind,
  offerId: z.string(),
  state: OrderState,
  state_updated_at: time,
  fulfillment_deadline: time.nullable().describe('When the order expires unless goods come'),
  agent_action: z.enum(['wait', 'stop']).nullable().describe('Null: nothing is left to do'),
  error: OrderError.nullable(),
}

const payment = {
  paymentId: z.string(),
  transactionHash: transaction.nullable().describe('Null while no payment is proven'),
}

const RefundContract = z
  .object({
    endpoint: z.string(),
    method: z.literal('POST'),
    required_body: z.record(z.string(), z.string()),
    required_headers: z.record(z.string(), z.string()),
    auth_model: z.string(),
    security_model: z.string(),
  })
  .meta({ id: 'RefundContract' })

/** What a purchase answers, and what an order reads as later. */
export const OrderAnswer = z
  .object({
    ...payment,
    orderId: z.string(),
    accessToken: z
      .string()
      .optional()
      .describe('Only in the answer that opened the order; shows the goods again. Keep it.'),
    webhook: z
      .object({
        state: z
          .enum(['active', 'over_limit'])
          .describe('over_limit: this wallet has too many webhooks, so this one gets nothing'),
        secret: z
          .string()
          .describe('Signs what the webhook gets (Standard Webhooks): whsec_ and base64'),
      })
      .optional()
      .describe('Beside accessToken, where the purchase has a webhookUrl. Keep it.'),
    orders: z.array(
      z.object({
        ...summary,
        result: z.union(Goods).nullable(),
        result_hint: z.string().optional().describe('How to see the goods, where they are hidden'),
      }),
    ),
    message: z.string().describe('What the state means and what to do next, in sentences'),
    refund_state: RefundState.nullable(),
    refund_contract: RefundContract.nullable(),
    receipt_url: z
      .string()
      .nullable()
      .describe('Where the signed receipt is; null while there is none'),
  })
  .meta({ id: 'OrderAnswer' })

/** What a payment on the chain, or its hash, shows everybody of the order that it paid. */
export const OrderStanding = z
  .object({
    transactionHash: payment.transactionHash,
    state: OrderState,
    state_updated_at: time,
    refund_state: RefundState.nullable(),
    refund_state_updated_at: time.nullable(),
    message: z.string(),
  })
  .meta({ id: 'OrderStanding' })

/** A page of the orders of one wallet: never with goods. */
export const OrderList = z
  .object({
    total: z.int().min(0),
    limit: z.int(),
    offset: z.int(),
    items: z.array(
      z.object({
        ...payment,
        ...summary,
        brandName: z.string(),
        country: z.string().optional(),
        amount_atomic: atomic,
        placed_at: time,
        refund_state: RefundState.nullable(),
      }),
    ),
    listToken: z
      .object({ token: z.string(), expiresAt: time })
      .optional()
      .describe(
        'After a sign-in: Authorization: Bearer {token} lists these orders until then, without a signature. It shows no goods',
      ),
  })
  .meta({ id: 'OrderList' })

/** The webhook of an order, and what became of its events. */
export const WebhookAnswer = z
  .object({
    state: z
      .enum(['active', 'over_limit', 'gone'])
      .describe('over_limit: it gets nothing, as its wallet has too many. gone: it answered 410'),
    events: z.array(
      z.object({
        id: z.string().describe('The webhook-id, the same in every attempt'),
        type: z.string().describe('order. and the new state, such as order.fulfilled'),
        timestamp: time,
        state: z.enum(['pending', 'delivered', 'given_up']),
        attempts: z.int().min(0),
        last_attempt_at: time.nullable(),
        last_answer: z.string().nullable().describe('The status of the answer, or a code'),
        next_attempt_at: time.nullable(),
      }),
    ),
  })
  .meta({ id: 'WebhookAnswer' })

/** A refund, claimed or watched (x402-signals 7.2). */
export const RefundAnswer = z
  .object({
    refundId: z.string(),
    paymentId: z.string(),
    orderId: z.string(),
    state: RefundState,
    state_updated_at: time,
    refund_to: z
      .string()
      .describe(
        'Always the wallet that paid; for another coin, the last letters of the address its buyer gave',
      ),
    amount_atomic: atomic,
    amount_atomic_refunded: atomic.nullable(),
    amount_atomic_kept: atomic.nullable(),
    asset: z.string(),
    asset_decimals: z.int().min(6).max(18),
    network: z.string(),
    transactionHash: transaction.nullable(),
    reason: z.string(),
    idempotency_key: z.string().nullable(),
    deadline: time,
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'RefundAnswer' })
