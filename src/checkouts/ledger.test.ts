import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unreturnedUnits } from '../../test/doubles/checkout-rules.ts'
import * as sample from '../../test/fixtures/sample-checkouts.ts'
import type { PayoutState } from '../orders/payout.ts'
import {
  type Checkout,
  type CheckoutAccount,
  checkoutBalancesOf,
  checkoutEntriesOf,
  priceIn,
} from './checkout.ts'

const { closed, ended, opened, opening, ordered, payment, returning, stepping } = sample

function sums(entries: ReturnType<typeof checkoutBalancesOf>) {
  return Object.fromEntries(entries.map(({ account, amount }) => [account, amount]))
}

const open = opened(opening())
const price = sample.unitsOfPrice

describe('the money of a checkout', () => {
  test.each<[string, Checkout, Partial<Record<CheckoutAccount, bigint>>]>([
    ['not opened', opening(), {}],
    ['refused', sample.refused(opening()), {}],
    ['without a payment', open, {}],
    [
      'that is not confirmed',
      opened(opening(), {
        payments: [payment(5n, { status: 'PROCESSING' }), payment(6n, { status: 'INVALID' })],
      }),
      {},
    ],
    [
      'partly paid',
      opened(opening(), { payments: [payment(5n)] }),
      {
        received: 5n,
        due: -5n,
      },
    ],
    ['ordered', ordered(open), { received: price, price: -price }],
    [
      'ordered, with a surplus',
      ordered(open, [payment(price + 7n)]),
      {
        received: price + 7n,
        price: -price,
        due: -7n,
      },
    ],
    [
      'on its way back',
      stepping(returning(ended(open, [payment(9n)]), 9n), 'APPROVED'),
      {
        received: 9n,
        due: -9n,
      },
    ],
    [
      'back in part, and closed',
      closed(stepping(returning(ended(open, [payment(9n)]), 7n), 'CONFIRMED')),
      { received: 9n, returned: -7n, kept: -2n },
    ],
  ])('%s', (_, checkout, expected) => {
    expect(sums(checkoutBalancesOf(checkout))).toEqual(expected)
  })

  test('is what is not on its way back yet', () => {
    expect(unreturnedUnits(opening())).toBe(0n)
    const paid = ordered(open, [payment(price + 7n), payment(4n, { status: 'PROCESSING' })])
    expect(unreturnedUnits(paid)).toBe(7n)
    expect(unreturnedUnits(returning(paid, 5n))).toBe(2n)
    expect(unreturnedUnits(stepping(returning(paid, 7n), 'CONFIRMED'))).toBe(0n)
  })
})

const step = fc.constantFrom<PayoutState>('DUE', 'APPROVED', 'CONFIRMED', 'FAILED')
const payments = fc.array(
  fc.tuple(
    fc.bigInt({ min: 1n, max: 10n ** 24n }),
    fc.constantFrom('SETTLED', 'PROCESSING', 'INVALID'),
  ),
  { maxLength: 6 },
)

/** Any checkout, with any returns of money beyond its price. */
const anyCheckout = fc
  .tuple(payments, fc.boolean(), fc.array(step, { maxLength: 4 }), fc.boolean())
  .map(([paid, isOrdered, steps, isClosed]): Checkout => {
    const came = paid.map(([units, status]) => payment(units, { status }))
    const isPaid = priceIn({ ...open.invoice, payments: came }) > 0n
    let one = isOrdered && isPaid ? ordered(open, came) : ended(open, came)
    for (const type of steps) {
      const rest = unreturnedUnits(one)
      if (rest > 0n) one = stepping(returning(one, (rest + 1n) / 2n), type)
    }
    return isClosed ? closed(one) : one
  })

test('whatever was received is the price, due, sent back or kept', () => {
  fc.assert(
    fc.property(anyCheckout, (checkout) => {
      const { received = 0n, ...places } = sums(checkoutBalancesOf(checkout))
      expect(Object.values(places).reduce((sum, units) => sum + units, received)).toBe(0n)
      for (const units of Object.values(places)) expect(units).toBeLessThan(0n)
    }),
  )
})

test('what a move books makes the old balances the new ones', () => {
  fc.assert(
    fc.property(anyCheckout, anyCheckout, (from, to) => {
      const after: Record<string, bigint> = sums(checkoutBalancesOf(from))
      for (const { account, amount } of checkoutEntriesOf(from, to)) {
        expect(amount).not.toBe(0n)
        after[account] = (after[account] ?? 0n) + amount
      }
      const left = Object.entries(after).filter(([, units]) => units !== 0n)
      expect(Object.fromEntries(left)).toEqual(sums(checkoutBalancesOf(to)))
    }),
  )
})
