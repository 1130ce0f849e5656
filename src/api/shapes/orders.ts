import * as z from 'zod'
import { esim } from '../../catalog/esim.ts'
import { topup } from '../../catalog/topup.ts'
import { voucher } from '../../catalog/voucher.ts'

/** The published shapes of orders and refunds (x402-signals v0.2, sections 6 and 7). */

const kind = z.enum(['voucher', 'topup', 'esim'])
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

const VoucherGoods = voucher.delivery.omit({ kind: true }).meta({ id: 'VoucherGoods' })
const TopupGoods = topup.delivery
  .omit({ kind: true })
  .extend({ msisdn: z.string().optional() })
  .meta({ id: 'TopupGoods' })
const EsimGoods = esim.delivery
  .omit({ kind: true })
  .extend({
    lpa: z.string().optional().describe('The activation code as one text: LPA:1$…'),
    qrPng: z.string().optional().describe('QR code of it, a PNG data URL'),
    qrSvg: z.string().optional().describe('QR code of it, as SVG'),
  })
  .meta({ id: 'EsimGoods' })

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
    orders: z.array(
      z.object({
        ...summary,
        result: z.union([VoucherGoods, TopupGoods, EsimGoods]).nullable(),
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
  })
  .meta({ id: 'OrderList' })

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
