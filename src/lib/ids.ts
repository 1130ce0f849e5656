import { createHash } from 'node:crypto'
import type { Brand } from './brand.ts'

/** The supplier's own name for an offer; the same everywhere in the store. */
export type OfferId = Brand<string, 'OfferId'>
/** One unit of fulfilment. Knowing it is enough to read the order's state, so it cannot be guessed. */
export type OrderId = Brand<string, 'OrderId'>
/** One settlement of money, in the words of x402-signals. */
export type PaymentId = Brand<string, 'PaymentId'>
/** A person's way to an order, from the form to the payment. */
export type CheckoutId = Brand<string, 'CheckoutId'>
/** The one refund that a payment can have. */
export type RefundId = Brand<string, 'RefundId'>

/** Crockford's alphabet in lower case: no letter that a person or a model reads as another. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const idPattern = /^(ord|pay|chk)_[0-9a-hjkmnp-tv-z]{26}$/

/**
 * The order id of a payment, with 130 bits: whoever has it sees the order's state, so nobody may guess
 * it (docs/decisions/005).
 *
 * @param digest of the payment, keyed with a secret of the store: 32 bytes in hex
 */
export function orderIdOf(digest: string): OrderId {
  return `ord_${idText(digest)}` as OrderId
}

/** A payment id, as unguessable as an order id because it finds the same record. */
export function paymentIdOf(digest: string): PaymentId {
  return `pay_${idText(digest)}` as PaymentId
}

/** The refund id of an order. It is derived, so that asking twice can never name two refunds. */
export function refundIdOf(order: OrderId): RefundId {
  const digest = createHash('sha256').update(`refund-id:${order}`).digest()
  return `ref_${idText(digest.toString('hex'))}` as RefundId
}

/** A checkout id, as unguessable as that of the order which it opens. */
export function checkoutIdOf(digest: string): CheckoutId {
  return `chk_${idText(digest)}` as CheckoutId
}

/** Whether the text has the form of an order id; anything else need not be looked up. */
export function isOrderId(text: string): text is OrderId {
  return idPattern.test(text) && text.startsWith('ord_')
}

/** Whether the text has the form of a payment id. */
export function isPaymentId(text: string): text is PaymentId {
  return idPattern.test(text) && text.startsWith('pay_')
}

/** Whether the text has the form of a checkout id. */
export function isCheckoutId(text: string): text is CheckoutId {
  return idPattern.test(text) && text.startsWith('chk_')
}

function idText(digest: string): string {
  const bytes = Buffer.from(digest, 'hex').subarray(0, 26)
  return Array.from(bytes, (byte) => alphabet.charAt(byte % 32)).join('')
}
