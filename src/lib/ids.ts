import { createHash } from 'node:crypto'
import type { Brand } from './brand.ts'

/** The supplier's own id of an offer, used throughout the store. */
export type OfferId = Brand<string, 'OfferId'>
/** Identifies an order. It is unguessable, because it grants access to the order's state. */
export type OrderId = Brand<string, 'OrderId'>
/** Identifies one settlement of money (x402-signals). */
export type PaymentId = Brand<string, 'PaymentId'>
/** Identifies a checkout. */
export type CheckoutId = Brand<string, 'CheckoutId'>
/** Identifies the only refund of a payment. */
export type RefundId = Brand<string, 'RefundId'>

/**
 * An offer id in the form in which ids are compared. Offers are found in any case, and a repeated purchase may
 * write its offer in another case than before, so two offers whose ids differ only in case are never both sold.
 */
export function idInCapitals(id: string): string {
  return id.toUpperCase()
}

/** Crockford's base 32 in lower case, which has no ambiguous letters. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const idPattern = /^(ord|pay|chk)_[0-9a-hjkmnp-tv-z]{26}$/

/**
 * Derives the order id of a payment. It has 130 bits, because it grants access to the order's state and
 * must not be guessable (docs/contributors/decisions/005).
 *
 * @param digest of the payment, keyed with a secret of the store: 32 bytes in hex
 */
export function orderIdOf(digest: string): OrderId {
  return `ord_${idText(digest)}` as OrderId
}

/** Derives the payment id. It has 130 bits too, because it leads to the same record as the order id. */
export function paymentIdOf(digest: string): PaymentId {
  return `pay_${idText(digest)}` as PaymentId
}

/**
 * Derives the token that opens the page of an approval. It has 130 bits, because whoever has it may
 * approve the purchase.
 *
 * @param digest of the approval, keyed with a secret of the store: 32 bytes in hex
 */
export function approvalTokenOf(digest: string): string {
  return `apr_${idText(digest)}`
}

/** Derives the refund id of an order, so that an order has only one refund id. */
export function refundIdOf(order: OrderId): RefundId {
  const digest = createHash('sha256').update(`refund-id:${order}`).digest()
  return `ref_${idText(digest.toString('hex'))}` as RefundId
}

/** Derives the checkout id. It has 130 bits, because it grants access to its order. */
export function checkoutIdOf(digest: string): CheckoutId {
  return `chk_${idText(digest)}` as CheckoutId
}

/** Whether the text has the form of an order id. */
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
