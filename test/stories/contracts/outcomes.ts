import { type Address, isAddressEqual } from 'viem'
import { expect } from 'vitest'
import type { Accepts } from '../../harness/payer.ts'
import { balanceOf, transactionsOf, transfersBetween } from '../chain.ts'
import { bookedFor, ledgerOf, lifeOf, rowsKept } from '../facts.ts'
import { type Answer, bodyFor, get, post, purchasePath, until } from '../requests.ts'
import type { Store } from '../store.ts'

const voucher = bodyFor('voucher', 'OK')

/** Hands over a payment for the voucher that all attacks are about. */
export function payForVoucher(store: Store, header: string): Promise<Answer> {
  return post(store.url, purchasePath('voucher'), voucher, { 'payment-signature': header })
}

/** Everything that a refused payment must leave as it was. */
async function traces(store: Store, wallet: Address) {
  const rows = await rowsKept(store)
  return {
    rows,
    bought: (await ledgerOf(store)).length,
    gasSpent: await transactionsOf(store.parts, store.gasWallet),
    earned: await balanceOf(store.parts, store.payTo),
    held: await balanceOf(store.parts, wallet),
  }
}

/** The payment is refused with fresh terms and its reason, and has left no trace. */
export async function expectRefused(
  store: Store,
  wallet: Address,
  header: string,
  code: string,
): Promise<void> {
  const before = await traces(store, wallet)
  const answer = await payForVoucher(store, header)
  expect(answer).toMatchObject({ status: 402, body: { code, charged: 'no' } })
  expect((answer.body.accepts[0] as Accepts).amount).toBe('500000')
  expect(await traces(store, wallet)).toEqual(before)
}

/** Nobody knows yet whether the money moved, so nobody is asked for more of it. */
export function expectPending(answer: Answer): void {
  expect(answer).toMatchObject({
    status: 202,
    body: { orders: [{ state: 'PAYMENT_PENDING', result: null }], transactionHash: null },
  })
  expect(answer.headers.get('payment-required')).toBeNull()
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
