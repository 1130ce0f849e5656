import { describe, expect, test } from 'vitest'
import { newOrderId, newPaymentId } from '../../test/doubles/ids.ts'
import { isOrderId, isPaymentId, refundIdOf } from './ids.ts'

const form = /^[0-9a-hjkmnp-tv-z]{26}$/

describe('ids', () => {
  test('use the whole alphabet evenly at every position, so all 130 bits count', () => {
    const ids = Array.from({ length: 4_000 }, () => newOrderId().slice(4))
    for (let place = 0; place < 26; place += 1) {
      const counts = new Map<string, number>()
      for (const id of ids) counts.set(id.charAt(place), (counts.get(id.charAt(place)) ?? 0) + 1)
      expect(counts.size).toBe(32)
      // 125 of each are expected; 90 is eight standard deviations.
      for (const count of counts.values()) expect(Math.abs(count - 125)).toBeLessThan(90)
    }
  })

  test('differ in form between orders and payments', () => {
    const order = newOrderId()
    const payment = newPaymentId()
    expect([isOrderId(order), isPaymentId(order)]).toEqual([true, false])
    expect([isOrderId(payment), isPaymentId(payment)]).toEqual([false, true])
    expect(isOrderId(refundIdOf(order))).toBe(false)
  })

  const good = newOrderId()
  test.each([
    '',
    'ord_',
    good.slice(0, -1),
    `${good}0`,
    good.toUpperCase(),
    `${good}\n`,
    ` ${good}`,
    good.replace('_', '-'),
    `ord_${'i'.repeat(26)}`,
    `ord_${'u'.repeat(26)}`,
    `ord_${'0'.repeat(25)}'`,
  ])('%j is no order id', (text) => {
    expect(isOrderId(text)).toBe(false)
  })

  test('of refunds derive from the order id and differ between orders', () => {
    const orders = Array.from({ length: 1_000 }, newOrderId)
    const refunds = new Set(orders.map(refundIdOf))
    expect(refunds.size).toBe(1_000)
    for (const order of orders) expect(refunds.has(refundIdOf(order))).toBe(true)
    for (const refund of refunds) expect(refund.replace(/^ref_/, '')).toMatch(form)
  })
})
