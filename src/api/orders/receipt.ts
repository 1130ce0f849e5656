import { CompactSign } from 'jose'
import { Refusal } from '../../lib/refusal.ts'
import {
  type Delivered,
  deliveryHash,
  ReceiptAnswer,
  type ReceiptClaims,
  receiptType,
} from '../../orders/delivery-receipt.ts'
import type { Proof } from '../../orders/finding.ts'
import {
  chargedOf,
  isPaid,
  isRefunding,
  type Order,
  type PaidOrder,
  refundStateOf,
} from '../../orders/order.ts'
import { paidIn, publicPayerOf } from '../../payments/payment.ts'
import { orderId, viewerHeaders } from '../buying/credentials.ts'
import { retryAfterSeconds } from '../buying/payment-required.ts'
import {
  answers,
  type BuyingDeps,
  type Credentials,
  type OrderOperation,
  type ReceiptDeps,
  receiptPath,
} from '../operation.ts'
import { lookAtOrder } from './find-orders.ts'
import { goodsOf } from './order.ts'

export const getReceipt: OrderOperation = {
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
  run: async (call, deps) => ({
    body: await receiptOf(deps, call.orderId, call.readCredentials),
  }),
}

export async function receiptOf(
  deps: Pick<BuyingDeps, 'orders' | 'signIn' | 'receipts'>,
  orderId: string,
  readCredentials: () => Credentials,
) {
  const { order, reveal } = await lookAtOrder(deps, { orderId }, readCredentials)
  return (await receiptAnswer(deps.receipts, order, reveal)) ?? noReceipt(order)
}

function noReceipt(order: Order): never {
  const isOpen = chargedOf(order) === 'unknown'
  const message = isOpen
    ? 'The payment of this order is not proven yet, so there is no receipt. Ask for the order until it is.'
    : 'No money came for this order, so there is no receipt.'
  throw new Refusal('no_receipt', message, {
    charged: chargedOf(order),
    extra: { state: order.state },
    ...(isOpen ? { retryAfterSeconds } : {}),
  })
}

/** Undefined while no payment is proven, so that nobody holds a receipt for nothing. */
export async function receiptAnswer(
  deps: ReceiptDeps,
  order: Order,
  reveal: Proof | false,
): Promise<ReceiptAnswer | undefined> {
  if (!isPaid(order)) return undefined
  const delivered = deliveredOf(deps, order)
  const claims = claimsOf(deps, order, delivered && deliveryHash(delivered))
  const { kid, privateKey } = deps.keys.current
  const receipt = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: receiptType })
    .sign(privateKey)
  if (!reveal || !delivered) return { receipt }
  deps.noteShown(order.id, reveal)
  return { receipt, delivered }
}

/** The delivery as it is hashed, without pictures, which can be made from the text. */
function deliveredOf({ vault, salts }: ReceiptDeps, order: PaidOrder): Delivered | undefined {
  if (order.state !== 'FULFILLED') return undefined
  return { salt: salts.of(order.id), result: wellFormed(goodsOf(vault, order)) }
}

/** Replaces lone surrogates, which a supplier may send and canonical JSON cannot express. */
function wellFormed(goods: object): Delivered['result'] {
  const text = JSON.stringify(goods)
  return JSON.parse(text, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
}

function claimsOf(
  { site, now }: ReceiptDeps,
  order: PaidOrder,
  sha256: string | undefined,
): ReceiptClaims {
  const { item, payment, receipt } = order
  return {
    iss: site.url,
    iat: Math.floor(now().getTime() / 1_000),
    sub: order.id,
    paymentId: order.paymentId,
    kind: item.kind,
    offerId: item.offerId,
    brandName: item.brandName,
    state: order.state,
    placed_at: order.placedAt.toISOString(),
    state_updated_at: order.changedAt.toISOString(),
    payment: {
      network: payment.network,
      asset: payment.asset,
      payer: publicPayerOf(payment),
      payTo: payment.payTo,
      amount_atomic: paidIn(payment).units.toString(),
      transaction: receipt.transaction,
      settlement: order.settlement === 'FINAL' ? 'final' : 'seen',
    },
    ...(sha256 === undefined ? {} : { delivery: { sha256 } }),
    ...refundClaim(order),
  }
}

function refundClaim(order: PaidOrder): Pick<ReceiptClaims, 'refund'> {
  const state = refundStateOf(order)
  if (state === null || !isRefunding(order)) return {}
  const { payout, payment } = order
  const sent = payout?.state === 'CONFIRMED' ? { transaction: payout.transaction } : {}
  return { refund: { state, amount_atomic: paidIn(payment).units.toString(), ...sent } }
}
