import { toBuffer, toString as toSvg } from 'qrcode'
import { type Delivery, kindOf } from '../../catalog/good.ts'
import type { Goods } from '../../catalog/kinds/kind.ts'
import { never } from '../../lib/never.ts'
import { type In, isPaid, isRefunding, type Order, refundStateOf } from '../../orders/order.ts'
import type { OpenedWebhook } from '../../orders/purchase.ts'
import type { Tender } from '../../payments/payment.ts'
import type { Vault } from '../../secrets/vault.ts'
import { recipientOf } from '../bought.ts'
import { receiptPath } from '../paths.ts'
import { orderMessage } from './order-message.ts'
import { refundContract } from './refund.ts'

export interface OrderView {
  readonly order: Order
  /** Whether whoever asks has shown that the goods are theirs. */
  readonly reveal: boolean
  /** Only in the answer that opened the order. */
  readonly accessToken?: string | undefined
  /** Only there too. */
  readonly webhook?: OpenedWebhook | undefined
}

/** How the goods of an order can be had by somebody who shows nothing yet. */
const lockedHints = {
  x402: 'The goods are shown with Authorization: Bearer {accessToken}, or after SIGN-IN-WITH-X by the paying wallet.',
  btcpay: 'The goods are shown with Authorization: Bearer {accessToken}.',
} as const satisfies Record<Tender['rail'], string>

/** The published record of a payment and its order (x402-signals 6.2). */
export async function orderBody(vault: Vault, view: OrderView) {
  const { order, reveal, accessToken, webhook } = view
  const result = order.state === 'FULFILLED' && reveal ? await resultOf(vault, order) : null
  const locked = order.state === 'FULFILLED' && !reveal
  return {
    paymentId: order.paymentId,
    transactionHash: transactionOf(order),
    orderId: order.id,
    ...(accessToken === undefined ? {} : { accessToken }),
    ...(webhook === undefined ? {} : { webhook }),
    orders: [
      {
        ...summaryOf(order),
        result,
        ...(locked ? { result_hint: lockedHints[order.tender.rail] } : {}),
      },
    ],
    message: orderMessage(order, reveal ? 'shown' : 'locked'),
    refund_state: refundStateOf(order),
    refund_contract: isRefunding(order) ? refundContract(order) : null,
    receipt_url: isPaid(order) ? receiptPath(order.id) : null,
  }
}

const proofs =
  'its accessToken, a sign-in of the paying wallet, or the idempotency key of the purchase.'
const standingMessages = {
  hash: `A transaction hash is public, so this is all it shows. The order itself needs its orderId or paymentId, or proof that it is yours: ${proofs}`,
  payment: `This payment has an order already and buys nothing else. A payment is public once it is on the chain, so this is all it shows. The order itself needs proof that it is yours: ${proofs}`,
} as const

/** Where an order stands, for whoever knows no more of it than the chain tells everybody. */
export function orderStanding(order: Order, knownBy: keyof typeof standingMessages) {
  const refund = refundStateOf(order)
  return {
    transactionHash: transactionOf(order),
    state: order.state,
    state_updated_at: order.changedAt.toISOString(),
    refund_state: refund,
    refund_state_updated_at: refund === null ? null : refundChangedAt(order).toISOString(),
    message: standingMessages[knownBy],
  }
}

function refundChangedAt(order: Order): Date {
  const isBack = isRefunding(order) && order.payout?.state === 'CONFIRMED'
  return isBack ? order.payout.confirmedAt : order.changedAt
}

/** What somebody may see of an order that was found. */
export async function foundOrder(
  vault: Vault,
  found: OrderView & { readonly isPublic: boolean },
): Promise<Awaited<ReturnType<typeof orderBody>> | ReturnType<typeof orderStanding>> {
  return found.isPublic ? orderStanding(found.order, 'hash') : orderBody(vault, found)
}

/** An order as lists show it: never with goods, which only a look at that one order opens. */
export function orderItem(order: Order) {
  return {
    paymentId: order.paymentId,
    transactionHash: transactionOf(order),
    ...summaryOf(order),
    brandName: order.item.brandName,
    ...(order.item.country === undefined ? {} : { country: order.item.country }),
    amount_atomic: order.amount.toString(),
    placed_at: order.placedAt.toISOString(),
    refund_state: refundStateOf(order),
  }
}

/** The transaction that paid, or null while none is proven. */
export function transactionOf(order: Order): string | null {
  return 'receipt' in order ? order.receipt.transaction : null
}

function summaryOf(order: Order) {
  return {
    orderId: order.id,
    kind: order.item.kind,
    offerId: order.item.offerId,
    state: order.state,
    state_updated_at: order.changedAt.toISOString(),
    fulfillment_deadline: 'deliverBy' in order ? order.deliverBy.toISOString() : null,
    agent_action: actionOf(order),
    error: errorOf(order),
  }
}

/** What the agent should do next; null when there is nothing left to do (x402-signals 6.2). */
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
  // Only a refusal is a word of the supplier; older records have a code of ours beside its silence.
  const isSaid = trigger === 'fulfillment_failed' && code !== undefined && code !== ''
  return { code: trigger, message, ...(isSaid ? { supplier_code: code } : {}) }
}

async function resultOf(vault: Vault, order: In<'FULFILLED'>) {
  const goods = goodsOf(vault, order)
  return { ...goods, ...(goods.lpa === undefined ? {} : await picturesOf(goods.lpa)) }
}

/** What was delivered, in words: what pictures show as well stands in `lpa`. */
export function goodsOf(vault: Vault, order: In<'FULFILLED'>): Goods {
  const opened = vault.open(order.delivery, { order: order.id, field: 'delivery' }) as Delivery
  const { kind: _, ...delivered } = opened
  const { id: orderId, item, recipient } = order
  return kindOf(opened).resultOf(delivered, () => recipientOf(vault, { orderId, item, recipient }))
}

/** What a phone reads to install the eSIM: the text of the activation code as pictures. */
async function picturesOf(lpa: string) {
  const [png, svg] = await Promise.all([
    toBuffer(lpa, { errorCorrectionLevel: 'M', margin: 4, scale: 6 }),
    toSvg(lpa, { errorCorrectionLevel: 'M', margin: 4, type: 'svg' }),
  ])
  return { qrPng: `data:image/png;base64,${png.toString('base64')}`, qrSvg: svg }
}
