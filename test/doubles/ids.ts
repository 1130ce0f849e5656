import { randomBytes } from 'node:crypto'
import {
  type CheckoutId,
  checkoutIdOf,
  type OrderId,
  orderIdOf,
  type PaymentId,
  paymentIdOf,
} from '../../src/lib/ids.ts'

/** The id of an order of a random payment. */
export function newOrderId(): OrderId {
  return orderIdOf(randomDigest())
}

export function newPaymentId(): PaymentId {
  return paymentIdOf(randomDigest())
}

export function newCheckoutId(): CheckoutId {
  return checkoutIdOf(randomDigest())
}

function randomDigest(): string {
  return randomBytes(32).toString('hex')
}
