import { describe, expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { failed, fulfilled, fulfilling, paid, pending } from '../../test/fixtures/sample-orders.ts'
import { usdc } from '../lib/money.ts'
import type { SignedRefund } from '../payments/payment.ts'
import {
  droppedGoodwill,
  goodwillDropped,
  goodwillFor,
  goodwillReferenceOf,
  orderOfGoodwill,
} from './goodwill.ts'
import type { Goodwill } from './ports.ts'

const now = new Date('2026-03-02T10:00:00Z')
const gift = { amount: usdc(5_000_000n), reason: 'The code was used', by: 'ada@console' }
const delivered = () => fulfilled(fulfilling(paid(pending())))

test('goodwill is for the payer of an order that was delivered', () => {
  const order = delivered()
  const { id, payment, receipt } = order
  const made = goodwillFor(order, gift, now)
  expect(made).toEqual({
    ...{ id, version: 1, ...gift, givenAt: now, changedAt: now, payment, receipt },
    payout: { state: 'DUE' },
  })
})

test.each([
  ['no order', undefined, 'no such order'],
  ['an order under way', fulfilling(paid(pending())), 'it is FULFILLING'],
  ['an order that is paid back', failed(fulfilling(paid(pending()))), 'it is FULFILLMENT_FAILED'],
  [
    'less than the smallest unit of the coin',
    { ...delivered(), payment: { method: 'btcpay', amount: 12_500_000n, units: 2n } },
    'less than the smallest unit',
  ],
  ['a payment that may vanish', { ...delivered(), settlement: 'SEEN' }, 'not final yet'],
  ['a payment that vanished', { ...delivered(), settlement: 'LOST' }, 'its payment vanished'],
  [
    'more than the price',
    { ...delivered(), amount: usdc(4_999_999n) },
    'its price was 4.999999 USDC',
  ],
])('%s gets no goodwill', (_, order, why) => {
  expect(goodwillFor(order as never, gift, now)).toContain(why)
})

describe('dropped', () => {
  const failedFor = (code: string, more: object = {}): Goodwill => {
    const made = goodwillFor(delivered(), gift, now)
    if (typeof made === 'string') throw new Error(made)
    return { ...made, payout: { state: 'FAILED', code, reason: 'USDC says no.', ...more } }
  }
  const validBefore = now.getTime() / 1_000
  const signed = { method: 'x402', validBefore } as SignedRefund

  test('it ends with who did that and why it had failed', () => {
    const ended = { state: 'FAILED', code: goodwillDropped } as const
    const reason = 'Dropped by ada. It had failed with payer_blacklisted: USDC says no.'
    const failed = failedFor('payer_blacklisted', {
      signed: { ...signed, validBefore: validBefore - 300 },
    })
    expect(droppedGoodwill(failed, 'ada', now)).toEqual({
      ...failed,
      payout: { ...ended, reason },
    })
  })

  test.each([
    ['due', { ...failedFor('no_gas'), payout: { state: 'DUE' } as const }, 'it is DUE'],
    ['dropped before', failedFor(goodwillDropped), 'it was dropped before'],
    [
      'signed, and can still be paid',
      failedFor('no_gas', { signed: { ...signed, validBefore: validBefore + 1 } }),
      'what was signed can be paid until',
    ],
  ])('it cannot be when it is %s', (_, goodwill, why) => {
    expect(droppedGoodwill(goodwill, 'ada', now)).toContain(why)
  })
})

test('its reference names its order and nothing else', () => {
  const id = newOrderId()
  expect(orderOfGoodwill(goodwillReferenceOf(id))).toBe(id)
  for (const other of [id, `${id}-1`, 'ord_1-goodwill', `${id}-goodwill-goodwill`, '-goodwill']) {
    expect(orderOfGoodwill(other)).toBeUndefined()
  }
})
