import { toBuffer, toString as toSvg } from 'qrcode'
import * as z from 'zod'
import type { Goods } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import { type Delivery, kindOf, kinds, type Recipient } from '../../catalog/offer.ts'
import { never } from '../../lib/errors.ts'
import type { OrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { Proof } from '../../orders/finding.ts'
import {
  chargedOf,
  type In,
  isPaid,
  isRefunding,
  type Order,
  type Refunding,
  refundStateOf,
} from '../../orders/order.ts'
import type { OpenedWebhook } from '../../orders/purchase.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Sealed, Vault } from '../../secrets/secrets.ts'
import { retryAfterSeconds } from '../buying/payment-required.ts'
import {
  atomic,
  type Fields,
  orderPath,
  publish,
  type ReceiptDeps,
  receiptPath,
  refundPath,
  type Site,
  shapeOf,
  time,
  titleOf,
  transactionHash,
} from '../operation.ts'
import { type Delivered, orderMessage } from './outcome.ts'

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

export const RefundState = z
  .enum(['REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED'])
  .meta({ id: 'RefundState', description: 'REFUND_FAILED: the operator of the store must act.' })

const OrderError = z
  .object({ code: z.string(), message: z.string(), supplier_code: z.string().optional() })
  .meta({ id: 'OrderError' })

const summary = {
  orderId: [z.string(), ({ id }) => id],
  kind: [z.enum(kinds), ({ item }) => item.kind],
  offerId: [z.string(), ({ item }) => item.offerId],
  state: [OrderState, ({ state }) => state],
  state_updated_at: [time, ({ changedAt }) => changedAt.toISOString()],
  fulfillment_deadline: [
    time.nullable().describe('When the order expires unless goods come'),
    (order) => ('deliverBy' in order ? order.deliverBy.toISOString() : null),
  ],
  agent_action: [
    z.enum(['wait', 'stop']).nullable().describe('Null: nothing is left to do'),
    actionOf,
  ],
  error: [OrderError.nullable(), errorOf],
} satisfies Fields<Order>

const payment = {
  paymentId: [z.string(), ({ paymentId }) => paymentId],
  transactionHash: [transactionHash.describe('Null while no payment is proven'), transactionOf],
} satisfies Fields<Order>

const refundState = [RefundState.nullable(), refundStateOf] as const

/** What anyone may see of an order who knows its payment on the chain or the hash of that transaction. */
const publicStatus = {
  transactionHash: payment.transactionHash,
  state: summary.state,
  state_updated_at: summary.state_updated_at,
  refund_state: refundState,
  refund_state_updated_at: [time.nullable(), refundChangedAt],
} satisfies Fields<Order>

export const OrderRecord = shapeOf(publicStatus)

export const OrderStanding = OrderRecord.extend({ message: z.string() }).meta({
  id: 'OrderStanding',
})

const listed = {
  ...payment,
  ...summary,
  brandName: [z.string(), ({ item }) => item.brandName],
  country: [z.string().optional(), ({ item }) => item.country],
  amount_atomic: [atomic, ({ amount }) => amount.toString()],
  placed_at: [time, ({ placedAt }) => placedAt.toISOString()],
  refund_state: refundState,
} satisfies Fields<Order>

/** A page of the orders of one wallet, never with goods: only a read of the single order shows them. */
export const OrderList = z
  .object({
    total: z.int().min(0),
    limit: z.int(),
    offset: z.int(),
    items: z.array(shapeOf(listed)),
  })
  .meta({ id: 'OrderList' })

export function orderItem(order: Order) {
  return publish(listed, order)
}

/** How an agent claims the refund of an order (x402-signals 6.2). */
const refundContract = {
  endpoint: [z.string(), ({ id }) => refundPath(id)],
  method: [z.literal('POST'), () => 'POST'],
  required_body: [
    z.record(z.string(), z.string()),
    ({ receipt, failure }) => ({
      transactionHash: receipt.transaction,
      reason: failure.trigger,
    }),
  ],
  required_headers: [
    z.record(z.string(), z.string()),
    () => ({ 'Idempotency-Key': '16 to 128 characters of A-Z a-z 0-9 _ -' }),
  ],
  auth_model: [
    z.string(),
    () => 'The order id names the payment; the refund goes to its payer whoever asks.',
  ],
  security_model: [z.string(), ({ item }) => goods[item.kind].refundRule],
} satisfies Fields<Refunding>

const DeliveredGoods = kinds.map((kind) => {
  const { delivery, published } = goods[kind]
  const { kind: _, ...delivered } = delivery.shape
  return z.object({ ...delivered, ...published.goods }).meta({ id: `${titleOf(kind)}Goods` })
})

const OrderSummary = shapeOf(summary).extend({
  result: z.union(DeliveredGoods).nullable(),
  result_hint: z.string().optional().describe('How to see the goods, where they are hidden'),
})

export interface OrderView {
  readonly order: Order
  /** By what the caller showed that it is theirs; its goods are shown then. */
  readonly reveal: Proof | false
  readonly accessToken?: string | undefined
  readonly webhook?: OpenedWebhook | undefined
}

type Answered = OrderView &
  Delivered & {
    readonly site: Site
    readonly result: Awaited<ReturnType<typeof resultOf>> | null
  }

const answered = {
  paymentId: [payment.paymentId[0], ({ order }) => order.paymentId],
  transactionHash: [payment.transactionHash[0], ({ order }) => transactionOf(order)],
  orderId: [z.string(), ({ order }) => order.id],
  accessToken: [
    z
      .string()
      .optional()
      .describe('Only in the answer that opened the order; shows the goods again. Keep it.'),
    ({ accessToken }) => accessToken,
  ],
  webhook: [
    z
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
    ({ webhook }) => webhook,
  ],
  orders: [
    z.array(OrderSummary),
    ({ order, reveal, result }) => {
      const isLocked = order.state === 'FULFILLED' && !reveal
      const result_hint = isLocked ? lockedHints[order.payment.method] : undefined
      return [{ ...publish(summary, order), result, result_hint }]
    },
  ],
  message: [
    z.string().describe('What the state means and what to do next, in sentences'),
    ({ order, reveal, ...telling }) =>
      orderMessage(order, {
        ...telling,
        pollAdvice: `Call GET ${orderPath(order.id)} in ${retryAfterSeconds} seconds, with the accessToken of the first answer in Authorization: Bearer {accessToken}; without it the answer has the state but not the goods.`,
        delivered: reveal
          ? 'The goods are in orders[0].result; treat them like cash.'
          : 'orders[0].result_hint says how to see the goods.',
      }),
  ],
  refund_state: [RefundState.nullable(), ({ order }) => refundStateOf(order)],
  refund_contract: [
    shapeOf(refundContract, 'RefundContract').nullable(),
    ({ order }) => (isRefunding(order) ? publish(refundContract, order) : null),
  ],
  receipt_url: [
    z.url().nullable().describe('Where the signed receipt is; null while there is none'),
    ({ order, site }) => (isPaid(order) ? `${site.url}${receiptPath(order.id)}` : null),
  ],
} satisfies Fields<Answered>

export const OrderAnswer = shapeOf(answered, 'OrderAnswer')

export async function orderBody({ vault, site, noteShown }: TellingDeps, view: OrderView) {
  const { order, reveal } = view
  const result = order.state === 'FULFILLED' && reveal ? await resultOf(vault, order) : null
  if (result && reveal) noteShown(order.id, reveal)
  return publish(answered, {
    ...view,
    ...deliveredTo(vault, order, reveal !== false),
    site,
    result,
  })
}

export type TellingDeps = Pick<ReceiptDeps, 'vault' | 'site' | 'noteShown'>

/** Who has the goods, and what the carrier or the brand says that it credited: for the owner alone. */
export function deliveredTo(vault: Vault, order: Order, isOwner: boolean): Delivered {
  if (!isOwner || order.state !== 'FULFILLED') return {}
  const recipient = recipientOf(vault, order.id, order.recipient)
  const { credited } = goodsOf(vault, order)
  if (credited === undefined) return { recipient }
  const { amount, currency, currencyDivisor: divisor } = credited
  return { recipient, credited: { amount, currency, divisor, isExact: true } }
}

const lockedHints = {
  x402: 'The goods are shown with Authorization: Bearer {accessToken}, or after SIGN-IN-WITH-X by the paying wallet.',
  btcpay: 'The goods are shown with Authorization: Bearer {accessToken}.',
} as const satisfies Record<Payment['method'], string>

const proofs =
  'its accessToken, a sign-in of the paying wallet, or the idempotency key of the purchase.'
const publicStatusMessages = {
  hash: `A transaction hash is public, so this is all it shows. The order itself needs its orderId or paymentId, or proof that it is yours: ${proofs}`,
  payment: `This payment has an order already and buys nothing else. A payment is public once it is on the chain, so this is all it shows. The order itself needs proof that it is yours: ${proofs}`,
} as const

export function publicStatusOf(order: Order, identifier: keyof typeof publicStatusMessages) {
  return { ...publish(publicStatus, order), message: publicStatusMessages[identifier] }
}

/** Shows no more than the payment itself, on whose proof the caller relies. */
export function paymentReused(order: Order): Refusal {
  const message = `This payment has paid for another request, and buys nothing else. Its order is ${order.state}. A payment is public once it is on the chain, so "order" is all it shows. The order itself needs its own request and proof that it is yours: ${proofs}`
  return new Refusal('payment_reused', message, {
    charged: chargedOf(order),
    provesNothing: true,
    extra: { order: publish(publicStatus, order) },
  })
}

export const laterHeaders = {
  Location: 'Where to read the order.',
  'Retry-After': 'Seconds until the next look is worth it.',
}

function refundChangedAt(order: Order): string | null {
  if (refundStateOf(order) === null) return null
  const isBack = isRefunding(order) && order.payout?.state === 'CONFIRMED'
  return (isBack ? order.payout.confirmedAt : order.changedAt).toISOString()
}

export function transactionOf(order: Order): string | null {
  return 'receipt' in order ? order.receipt.transaction : null
}

/** What the agent should do next (x402-signals 6.2). */
function actionOf(order: Order): 'wait' | 'stop' | null {
  switch (order.state) {
    case 'PAYMENT_PENDING':
    case 'PAID':
    case 'FULFILLING':
      return 'wait'
    case 'FULFILLED':
    case 'PAYMENT_FAILED':
      return null
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED': {
      const refund = refundStateOf(order)
      if (refund === 'REFUND_PENDING') return 'wait'
      return refund === 'REFUND_FAILED' ? 'stop' : null
    }
    default:
      return never(order)
  }
}

function errorOf(order: Order) {
  if (order.state === 'PAYMENT_FAILED') return { code: order.code, message: order.reason }
  if (!isRefunding(order)) return null
  const { trigger, code, message } = order.failure
  // Only the code of a refusal comes from the supplier; other failures have a code of ours.
  const isSupplierCode = trigger === 'fulfillment_failed' && code !== undefined && code !== ''
  return { code: trigger, message, ...(isSupplierCode ? { supplier_code: code } : {}) }
}

async function resultOf(vault: Vault, order: In<'FULFILLED'>) {
  const goods = goodsOf(vault, order)
  return { ...goods, ...(goods.lpa === undefined ? {} : await picturesOf(goods.lpa)) }
}

export function goodsOf(vault: Vault, order: In<'FULFILLED'>): Goods {
  const opened = vault.open(order.delivery, { order: order.id, field: 'delivery' }) as Delivery
  const { kind: _, ...delivered } = opened
  return kindOf(opened).resultOf(delivered, () => recipientOf(vault, order.id, order.recipient))
}

/** The recipient; undefined once the personal fields were erased. */
export function recipientOf(
  vault: Vault,
  order: OrderId,
  sealed: Sealed | undefined,
): Recipient | undefined {
  return sealed && (vault.open(sealed, { order, field: 'recipient' }) as Recipient)
}

async function picturesOf(lpa: string) {
  const [png, svg] = await Promise.all([
    toBuffer(lpa, { errorCorrectionLevel: 'M', margin: 4, scale: 6 }),
    toSvg(lpa, { errorCorrectionLevel: 'M', margin: 4, type: 'svg' }),
  ])
  return { qrPng: `data:image/png;base64,${png.toString('base64')}`, qrSvg: svg }
}
