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

/**
 * Derives ids of 130 bits from a digest (32 bytes in hex, keyed with a secret of the store): whoever has one
 * reads or approves something, so none may be guessable (docs/contributors/decisions/005).
 */
function derived<Id extends string>(prefix: string): (digest: string) => Id {
  return (digest) => {
    const bytes = Buffer.from(digest, 'hex').subarray(0, 26)
    const text = Array.from(bytes, (byte) => alphabet.charAt(byte % 32)).join('')
    return `${prefix}_${text}` as Id
  }
}

export const orderIdOf = derived<OrderId>('ord')
export const paymentIdOf = derived<PaymentId>('pay')
export const checkoutIdOf = derived<CheckoutId>('chk')
/** The token that opens the page of an approval. */
export const approvalTokenOf = derived('apr')

/** An order has only one refund id. */
export function refundIdOf(order: OrderId): RefundId {
  const digest = createHash('sha256').update(`refund-id:${order}`).digest('hex')
  return derived<RefundId>('ref')(digest)
}

function formOf<Id extends string>(prefix: string): (text: string) => text is Id {
  const form = new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`)
  return (text): text is Id => form.test(text)
}

export const isOrderId = formOf<OrderId>('ord')
export const isPaymentId = formOf<PaymentId>('pay')
export const isCheckoutId = formOf<CheckoutId>('chk')
