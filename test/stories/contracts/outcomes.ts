import { type Address, isAddressEqual } from 'viem'
import { expect } from 'vitest'
import { transfersBetween } from '../chain.ts'
import { bookedFor, lifeOf } from '../facts.ts'
import { type Answer, bodyFor, get, post, purchasePath, until } from '../requests.ts'
import type { Store } from '../store.ts'

const voucher = bodyFor('voucher', 'OK')

/** Hands over a payment for the voucher that all attacks are about. */
export function payForVoucher(store: Store, header: string): Promise<Answer> {
  return post(store.url, purchasePath('voucher'), voucher, { 'payment-signature': header })
}

/** It is sold: the goods came in time for the answer or, on a busy machine, are on their way. */
export function expectSold({ status }: Answer): void {
  expect([200, 202]).toContain(status)
}

/** One payment, one purchase at the supplier, one delivery, no refund. */
export async function expectDeliveredOnce(store: Store, payer: Address, orderId: string) {
  const order = await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect(order).toMatchObject({ refund_state: null })
  expect((await lifeOf(store, orderId)).states).toEqual([
    'PAYMENT_PENDING',
    'PAID',
    'FULFILLING',
    'FULFILLED',
  ])
  expect(await bookedFor(store, orderId)).toMatchObject([{ deliveries: 1 }])
  const { transactionHash } = order
  const paid = await transfersBetween(store.parts, payer, store.payTo)
  expect(paid).toEqual([{ transactionHash, value: 500_000n }])
  expect(await refundsTo(store, payer)).toEqual([])
  return order
}

/** The money of a failed order is back at the wallet that paid, once. */
export async function expectRefundedOnce(store: Store, payer: Address, orderId: string) {
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  const { body } = await get(store.url, `/api/catalog/orders/${orderId}/refund`)
  expect(isAddressEqual(body.refund_to, payer)).toBe(true)
  const { transactionHash } = body
  expect(await refundsTo(store, payer)).toEqual([
    { transactionHash, value: BigInt(body.amount_atomic_refunded) },
  ])
}

function refundsTo(store: Store, payer: Address) {
  return transfersBetween(store.parts, store.refundWallet, payer)
}
