import { createHash } from 'node:crypto'

export type OfferId = Brand<string, 'OfferId'>
/** Unguessable, because it grants access to the order's state. */
export type OrderId = Brand<string, 'OrderId'>
export type PaymentId = Brand<string, 'PaymentId'>
export type CheckoutId = Brand<string, 'CheckoutId'>
export type RefundId = Brand<string, 'RefundId'>

/** Offers are found in any case, so two whose ids differ only in case are never both sold. */
export function idInCapitals(id: string): string {
  return id.toUpperCase()
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 130 bits of a digest keyed with a secret: whoever has an id reads or approves something. */
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
export const approvalTokenOf = derived('apr')

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

declare const brand: unique symbol

/** A `T` that only its own constructor creates. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
