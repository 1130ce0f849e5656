import { createHash, randomBytes } from 'node:crypto'
import type { Brand } from './brand.ts'

/** The supplier's own name for an offer; the same everywhere in the store. */
export type OfferId = Brand<string, 'OfferId'>
/** One unit of fulfilment. Knowing it is enough to read the order's state, so it cannot be guessed. */
export type OrderId = Brand<string, 'OrderId'>
/** One settlement of money, in the words of x402-signals. */
export type PaymentId = Brand<string, 'PaymentId'>
/** The one refund that a payment can have. */
export type RefundId = Brand<string, 'RefundId'>

/** Crockford's alphabet in lower case: no letter that a person or a model reads as another. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const idPattern = /^(ord|pay)_[0-9a-hjkmnp-tv-z]{26}$/

/** A new order id with 130 random bits (decisions 5 asks for at least 128). */
export function newOrderId(): OrderId {
  return `ord_${randomText(26)}` as OrderId
}

/** A new payment id, as unguessable as an order id because it finds the same record. */
export function newPaymentId(): PaymentId {
  return `pay_${randomText(26)}` as PaymentId
}

/** The refund id of an order. It is derived, so that asking twice can never name two refunds. */
export function refundIdOf(order: OrderId): RefundId {
  const digest = createHash('sha256').update(`refund-id:${order}`).digest()
  return `ref_${textOf(digest.subarray(0, 26))}` as RefundId
}

/** Whether the text has the form of an order id; anything else need not be looked up. */
export function isOrderId(text: string): text is OrderId {
  return idPattern.test(text) && text.startsWith('ord_')
}

/** Whether the text has the form of a payment id. */
export function isPaymentId(text: string): text is PaymentId {
  return idPattern.test(text) && text.startsWith('pay_')
}

function randomText(length: number): string {
  return textOf(randomBytes(length))
}

function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => alphabet.charAt(byte % 32)).join('')
}
