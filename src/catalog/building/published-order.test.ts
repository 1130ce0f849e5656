import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixed, fixturePricing, open, topup } from '../../../test/fixtures/offers.ts'
import { fold } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'
import { inUsd } from '../pricing.ts'
import { publishedOrder } from './published-order.ts'

const rates = fixturePricing().rates()

const offer = fc
  .record({
    id: fc.string({ unit: fc.constantFrom('A', 'B', 'a', '_'), minLength: 1, maxLength: 2 }),
    brandName: fc.constantFrom('Ama', 'ama', 'ÁMA', 'Ama Café', 'Zoo', 'Ämter', '', '😀', '\uff21'),
    price: fc.oneof(
      fc.integer({ min: 1, max: 3 }).map((amount) => fixed(amount * 100)),
      fc.integer({ min: 1, max: 3 }).map((amount) => open(amount * 100, 900)),
      fc.integer({ min: 1, max: 3 }).map((amount) => fixed(amount * 90, 'EUR')),
      // Without a rate, so these are ordered by their ids.
      fc.integer({ min: 1, max: 3 }).map((amount) => fixed(amount, 'XYZ')),
    ),
  })
  .map(({ id, ...changes }) => topup(id, changes))
const offers = fc.array(offer, { maxLength: 30 })

function rowsOf(list: readonly Offer[], table = rates): number[] {
  const order = publishedOrder(table)
  for (const each of list) order.add(each)
  expect(order.ids).toEqual(list.map(({ id }) => id))
  return [...order.rows()]
}

/** The published order a second time, as a list of values to compare in turn. */
function keyOf({ brandName, price, id }: Offer, table = rates): (string | number)[] {
  const least = price.type === 'FIXED' ? price.fixed : price.min
  return [fold(brandName), brandName, inUsd(least, price, table) ?? Number.POSITIVE_INFINITY, id]
}

function compareKeys(one: readonly (string | number)[], other: readonly (string | number)[]) {
  const at = one.findIndex((value, place) => value !== other[place])
  return at === -1 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}

function byRule(list: readonly Offer[], table = rates): number[] {
  const latest = [...list.keys()].filter(
    (row) => !list.slice(row + 1).some(({ id }) => id === list[row]?.id),
  )
  const keyAt = (row: number) => keyOf(list[row] as Offer, table)
  return latest.sort((one, other) => compareKeys(keyAt(one), keyAt(other)))
}

test('offers stand in the order of the rule, of two with one id the later one', () => {
  fc.assert(
    fc.property(offers, (list) => {
      expect(rowsOf(list)).toEqual(byRule(list))
    }),
    { numRuns: 500 },
  )
})

test('so they do without any rates', () => {
  fc.assert(
    fc.property(offers, (list) => {
      const order = publishedOrder(undefined)
      for (const each of list) order.add(each)
      const table = { asOf: new Date(0), source: 'none', perUsd: {} }
      expect([...order.rows()]).toEqual(byRule(list, table))
    }),
    { numRuns: 100 },
  )
})

test('the order in which they come changes nothing', () => {
  const distinct = fc.uniqueArray(offer, { maxLength: 20, selector: ({ id }) => id })
  fc.assert(
    fc.property(distinct, (list) => {
      const turned = list.toReversed()
      const idsIn = (some: readonly Offer[]) => rowsOf(some).map((row) => some[row]?.id)
      expect(idsIn(turned)).toEqual(idsIn(list))
    }),
    { numRuns: 100 },
  )
})
