import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyOrder } from '../../../test/fixtures/any-order.ts'
import {
  failed,
  fulfilling,
  paid,
  payer,
  pending,
  refunded,
  unpayable,
} from '../../../test/fixtures/sample-orders.ts'
import { refundIdOf } from '../../lib/ids.ts'
import { isRefunding, type Refunding } from '../../orders/order.ts'
import { refundBody } from './refund.ts'

const order = failed(fulfilling(paid(pending())))

test('a refund under way knows the amount and neither what went back nor what was kept', () => {
  expect(refundBody(order, { reason: 'It never came.', idempotencyKey: 'k' })).toEqual({
    refundId: refundIdOf(order.id),
    paymentId: order.paymentId,
    orderId: order.id,
    state: 'REFUND_PENDING',
    state_updated_at: order.changedAt.toISOString(),
    refund_to: payer,
    amount_atomic: '12500000',
    amount_atomic_refunded: null,
    amount_atomic_kept: null,
    asset: order.payment.asset,
    asset_decimals: 6,
    network: 'eip155:84532',
    transactionHash: null,
    reason: 'It never came.',
    idempotency_key: 'k',
    deadline: new Date(order.changedAt.getTime() + 86_400_000).toISOString(),
  })
})

test('a refund in a coin tells the address of its buyer to nobody', () => {
  const inCoin = { method: 'btcpay', asset: 'BTC', units: 5n, payer: 'BTC:bc1qprivate' }
  const payment = { ...order.payment, ...inCoin }
  const told = refundBody({ ...order, payment: payment as never }, {})
  expect(told.refund_to).toBe('BTC:…vate')
  expect(JSON.stringify(told)).not.toContain('bc1q')
})

test('a refund that was paid names its transaction and its own time', () => {
  const done = refunded(order)
  const { payout } = done
  if (payout.state !== 'CONFIRMED') throw new Error('not refunded')
  expect(refundBody(done, {})).toMatchObject({
    state: 'REFUNDED',
    state_updated_at: payout.confirmedAt.toISOString(),
    transactionHash: payout.transaction,
    amount_atomic_refunded: '12500000',
    amount_atomic_kept: '0',
    reason: order.failure.message,
    idempotency_key: null,
  })
  expect(payout.transaction).not.toBe(done.receipt.transaction)
})

test('a refund that failed says why', () => {
  expect(refundBody(unpayable(order), {})).toMatchObject({
    state: 'REFUND_FAILED',
    transactionHash: null,
    amount_atomic_refunded: '0',
    amount_atomic_kept: '12500000',
    error: { code: 'BLOCKED', message: 'The payer is blocked.' },
  })
})

test.each<[string, Refunding['payout']]>([
  ['has failed', { state: 'FAILED', code: 'payment_vanished', reason: 'It vanished.' }],
  ['was claimed again', { state: 'DUE' }],
  ['has not begun', undefined],
])('a refund that %s, of a payment that vanished, says that nothing was kept', (_, payout) => {
  const vanished = { ...order, settlement: 'LOST', payout } as Refunding
  expect(refundBody(vanished, {})).toMatchObject({
    amount_atomic: '12500000',
    amount_atomic_refunded: '0',
    amount_atomic_kept: '0',
  })
})

test('no refund goes to anyone but the payer, and none is partial', () => {
  fc.assert(
    fc.property(anyOrder, (any) => {
      if (!isRefunding(any)) return
      const body = refundBody(any, {})
      expect(body.refund_to).toBe(any.payment.payer)
      const { amount_atomic, amount_atomic_refunded: back, amount_atomic_kept: kept } = body
      expect([null, '0', amount_atomic]).toContain(back)
      const isMoved = any.settlement !== 'LOST' || any.payout?.state === 'CONFIRMED'
      if (back !== null)
        expect(BigInt(back) + BigInt(kept ?? 0)).toBe(isMoved ? BigInt(amount_atomic) : 0n)
    }),
  )
})
