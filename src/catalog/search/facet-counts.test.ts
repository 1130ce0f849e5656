import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixed, fixturePricing, open, voucher } from '../../../test/fixtures/offers.ts'
import { seeded } from '../../../test/model/random.ts'
import { type Column, valuesAmong } from './column.ts'
import { facetCounts } from './facet-counts.ts'
import { type Filters, matching, met, queryOf } from './filters.ts'
import { type Order, pageOf } from './search.ts'

const random = seeded(12)
const below = (most: number) => Math.floor(random() * most)
const countries = ['AT', 'BE', 'CH', 'DE', 'ES'] as const

/** Many brands with few offers each; some values are unknown, some are chosen by the buyer. */
const offers = Array.from({ length: 3_000 }, (_, at) => {
  const brandName = `Brand ${below(600)}`
  const value = 100 * (1 + below(150))
  return voucher(`V${at}`, {
    brand: brandName.toUpperCase(),
    brandName,
    country: countries[below(countries.length)] ?? 'AT',
    regions: [],
    subTypes: at % 5 === 0 ? ['Rare', 'Type 1'] : [`Type ${below(60)}`],
    description: at % 3 === 0 ? 'good' : 'fine',
    price: at % 7 === 0 ? open(value, value + 5_000) : fixed(value),
    faceValue: at % 11 === 0 ? fixed(value, 'XTS') : fixed(value),
  })
})
const index = catalogOf(offers, fixturePricing()).listed.voucher

const filters: readonly Filters[] = [
  {},
  { text: 'g' },
  { text: 'good', country: 'AT' },
  { country: 'BE' },
  { minUsd: 20, maxUsd: 90 },
  { minUsd: 3 },
  { maxUsd: 140, text: 'n' },
  { text: 'g', minUsd: 75, maxUsd: 75 },
  { text: 'f x f' },
  { amount: 'fixed', maxUsd: 149 },
  { minUsd: 20, text: 'fine', amount: 'fixed' },
  { amount: 'open', brand: 'brand 1', subType: 'Rare' },
  { text: 'nothing of this sort' },
]

const facets: readonly (readonly [Column, ...(keyof Filters)[]])[] = [
  [index.countries, 'country'],
  [index.brandNames, 'brand'],
  [index.subTypes, 'subType'],
  [index.amounts, 'amount'],
  [index.bands, 'minUsd', 'maxUsd'],
]

/** The same counts, made doc by doc and value by value. */
function counted(column: Column, docs: Uint32Array): [string, number][] {
  const counts = new Map<string, number>()
  for (const doc of docs) {
    for (const value of valuesAmong(column, Uint32Array.of(doc))) {
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
  }
  const inOrder = column.values.filter((value) => counts.has(value))
  return inOrder
    .map((value): [string, number] => [value, counts.get(value) ?? 0])
    .sort(([, one], [, other]) => other - one)
    .slice(0, 250)
}

test.each(filters)(
  'facets of %j count what the search finds with each of them left open',
  (asked) => {
    const query = queryOf(index, asked)
    const counts = facetCounts(index, query, met(index, query.clauses))
    const told = facets.map(([column, ...own]) => counts(column, ...own))
    for (const [at, [column, ...own]] of facets.entries()) {
      const others = { ...asked, ...Object.fromEntries(own.map((name) => [name, undefined])) }
      expect(told[at]).toEqual(counted(column, matching(index, others)))
    }
  },
)

test.each(filters)('pages of %j by value are those of the whole, sorted', (asked) => {
  const all = [...matching(index, asked)]
  const value = (doc: number) => index.faceUsd.min[doc] as number
  const sorted = (sign: 1 | -1) =>
    all.toSorted((one, other) => {
      const [low, high] = [value(one), value(other)]
      if (Number.isNaN(low) || Number.isNaN(high))
        return Number(Number.isNaN(low)) - Number(Number.isNaN(high)) || one - other
      return sign * (low - high) || one - other
    })
  const orders: readonly (readonly [Order, number[]])[] = [
    ['low', sorted(1)],
    ['high', sorted(-1)],
  ]
  for (const [order, whole] of orders) {
    for (const offset of [0, 24, all.length >> 1, all.length - 40, all.length - 10, all.length]) {
      if (offset < 0) continue
      const query = queryOf(index, asked)
      const found = met(index, query.clauses)
      const { docs } = pageOf(index, query, { found, page: { offset, limit: 24 }, order })
      expect([...docs]).toEqual(whole.slice(offset, offset + 24))
    }
  }
})

test.each([
  [75, 75],
  [3, undefined],
  [undefined, 140],
  [20, 90],
  // A converted bound may differ in its last digits from the value it came from.
  [75 + 5e-7, 75 - 5e-7],
  [90, 20],
])('values from %d to %d are found, those at the bounds too', (minUsd, maxUsd) => {
  const { min, max } = index.faceUsd
  const least = Math.round(minUsd ?? 0)
  const most = Math.round(maxUsd ?? 1e9)
  const expected = [...index.all].filter(
    (doc) => (max[doc] as number) >= least && (min[doc] as number) <= most,
  )
  expect([...matching(index, { minUsd, maxUsd })]).toEqual(expected)
})
