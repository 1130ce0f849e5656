import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyLife } from '../../test/fixtures/any-life.ts'
import * as sample from '../../test/fixtures/sample-orders.ts'
import { type Account, balancesOf, type Entry, entriesOf, type Order } from './order.ts'

const amount = 12_500_000n

function sumsOf(entries: readonly Entry[]): Partial<Record<Account, bigint>> {
  const sums: Partial<Record<Account, bigint>> = {}
  for (const { account, amount } of entries) sums[account] = (sums[account] ?? 0n) + amount
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

function total(entries: readonly Entry[]): bigint {
  return entries.reduce((sum, { amount }) => sum + amount, 0n)
}

/** All ledger entries of an order's life, move by move. */
function bookedIn(life: readonly Order[]): readonly Entry[] {
  return life.flatMap((order, index) => entriesOf(life[index - 1], order))
}

const opened = sample.pending()
const paid = sample.paid(opened)
const asked = sample.fulfilling(paid)
const given = sample.fulfilled(asked)
const failed = sample.failed(asked)
const back = sample.refunded(failed)

test.each<[string, Order | undefined, Order, Partial<Record<Account, bigint>>]>([
  ['an order that is opened', undefined, opened, {}],
  ['a payment that failed', opened, sample.paymentFailed(opened), {}],
  ['a payment that was seen', opened, paid, { received: amount, open: -amount }],
  ['asking the supplier', paid, asked, {}],
  ['goods', asked, given, { open: amount, delivered: -amount }],
  ['giving up', asked, failed, {}],
  ['a signature', failed, sample.signed(failed), {}],
  ['a refund', sample.signed(failed), back, { open: amount, refunded: -amount }],
  ['a refund that failed', failed, sample.unpayable(failed), {}],
  ['a payment the chain dropped', paid, opened, { received: -amount, open: amount }],
  [
    'goods whose payment is lost',
    { ...given, settlement: 'SEEN' },
    { ...given, settlement: 'LOST' },
    { received: -amount, delivered: amount },
  ],
  [
    'an order whose payment is lost',
    { ...failed, settlement: 'SEEN' },
    { ...failed, settlement: 'LOST' },
    { received: -amount, open: amount },
  ],
])('%s moves the money that it says', (_, from, to, expected) => {
  expect(sumsOf(entriesOf(from, to))).toEqual(expected)
})

test('whatever happens to an order, every move balances and the sums say where its money is', () => {
  const seen = new Set<string>()
  const lives = fc.property(anyLife(), (life) => {
    life.forEach((order, index) => {
      const moved = entriesOf(life[index - 1], order)
      expect(total(moved)).toBe(0n)
      expect(moved.every((entry) => entry.amount !== 0n)).toBe(true)
      const balances = balancesOf(order)
      expect(total(balances)).toBe(0n)
      expect(sumsOf(bookedIn(life.slice(0, index + 1)))).toEqual(sumsOf(balances))
      for (const { account } of moved) seen.add(account)
    })
  })
  void fc.assert(lives, { numRuns: 500 })
  // Otherwise the generated lives would not reach every account, and prove nothing.
  expect([...seen].sort()).toEqual(['delivered', 'open', 'received', 'refunded'])
})

test('an order holds its whole amount in one place at a time, or none of it', () => {
  const lives = fc.property(anyLife(), (life) => {
    for (const order of life) {
      const [received, place, ...more] = balancesOf(order)
      expect(more).toEqual([])
      const isPaid = 'receipt' in order && order.settlement !== 'LOST'
      expect([received, place?.amount]).toEqual(
        isPaid
          ? [{ account: 'received', amount: order.amount }, -order.amount]
          : [undefined, undefined],
      )
    }
  })
  void fc.assert(lives, { numRuns: 300 })
})
