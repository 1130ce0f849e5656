import { describe, expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import { seeded } from '../../../test/model/random.ts'
import type { Offer } from '../offer.ts'
import { inUsd, lowestCharge } from '../pricing.ts'
import { type Filters, without } from './filters.ts'
import type { Order } from './search-index.ts'

const pricing = fixturePricing()
const random = seeded(12)
const below = (most: number) => Math.floor(random() * most)
const countries = ['AT', 'BE', 'CH', 'DE', 'ES'] as const

/** Many brands with few offers each; some values are unknown, some are chosen by the buyer. */
const offers = Array.from({ length: 1_500 }, (_, at) => {
  const brandName = `Brand ${below(300)}`
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
const index = catalogOf(offers, pricing).listed.voucher
const all = { offset: 0, limit: offers.length }
const found = (filters: Filters) => index.search(filters, all).offers

const filters: readonly Filters[] = [
  {},
  { text: 'g' },
  { text: 'good', country: 'AT' },
  { country: 'BE' },
  { minUsd: 20, maxUsd: 90 },
  { maxUsd: 140, text: 'n' },
  { text: 'g', minUsd: 75, maxUsd: 75 },
  { amount: 'fixed', maxUsd: 149 },
  { amount: 'open', brand: 'brand 1', subType: 'Rare' },
  { text: 'nothing of this sort' },
]

test.each(filters)(
  'values of %j are counted among the matches, the most frequent first',
  (asked) => {
    const counted = (valuesOf: (offer: Offer) => readonly string[]) => {
      const groups = Object.groupBy(found(asked).flatMap(valuesOf), (value) => value)
      return Object.entries(groups)
        .map(([value, list = []]) => [value, list.length] as const)
        .sort(
          ([one, few], [other, many]) =>
            many - few || (one.toLowerCase() < other.toLowerCase() ? -1 : 1),
        )
    }
    expect(index.counts('country', asked)).toEqual(counted(({ country = '' }) => [country]))
    expect(index.counts('brandName', asked)).toEqual(counted(({ brandName }) => [brandName]))
    expect(index.counts('subType', asked)).toEqual(counted(({ subTypes }) => subTypes))
    expect(index.values('country', asked)).toEqual(
      counted(({ country = '' }) => [country])
        .map(([value]) => value)
        .sort(),
    )
  },
)

test.each(filters)('at most 100 brands are facets of %j, and all are counted', (asked) => {
  const brands = index.counts('brandName', without(asked, 'brand'))
  const facets = index.facets(asked)
  expect(facets.brandTotal).toBe(brands.length)
  expect(facets.brands).toEqual(brands.slice(0, 100).map(([brand]) => brand))
})

const leastUsd = ({ faceValue, price }: Offer) => {
  const of = (money: typeof price) =>
    inUsd(money.type === 'FIXED' ? money.fixed : money.min, money, pricing.rates())
  return of(faceValue ?? price) ?? of(price) ?? Number.NaN
}
const usdc = (offer: Offer) => Number(lowestCharge(offer, pricing) ?? Number.NaN)

test.each(filters)('pages of %j by value and price are those of the whole, sorted', (asked) => {
  const matches = index.search({ ...asked, text: undefined, exactText: asked.text }, all).offers
  const sorted = (value: (offer: Offer) => number, sign: 1 | -1) =>
    matches.toSorted((one, other) => {
      const [low, high] = [value(one), value(other)]
      if (Number.isNaN(low) || Number.isNaN(high))
        return Number(Number.isNaN(low)) - Number(Number.isNaN(high))
      return sign * (low - high)
    })
  const orders: readonly (readonly [Order, readonly Offer[]])[] = [
    ['match', matches],
    ['low', sorted(leastUsd, 1)],
    ['high', sorted(leastUsd, -1)],
    ['price', sorted(usdc, 1)],
  ]
  for (const [order, whole] of orders) {
    for (const offset of [0, 24, matches.length >> 1, Math.max(0, matches.length - 10), 2_000]) {
      const page = { offset, limit: 24 }
      const { offers: shown } = index.search(
        { ...asked, text: undefined, exactText: asked.text },
        page,
        order,
      )
      expect(shown.map(({ id }) => id)).toEqual(
        whole.slice(offset, offset + 24).map(({ id }) => id),
      )
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
  const least = Math.round(minUsd ?? 0)
  const most = Math.round(maxUsd ?? 1e9)
  const greatest = (offer: Offer) => {
    const money = offer.faceValue?.currency === 'USD' ? offer.faceValue : offer.price
    return (money.type === 'FIXED' ? money.fixed : money.max) / 100
  }
  const expected = offers.filter((offer) => greatest(offer) >= least && leastUsd(offer) <= most)
  expect(
    found({ minUsd, maxUsd })
      .map(({ id }) => id)
      .sort(),
  ).toEqual(expected.map(({ id }) => id).sort())
})

describe('filters of questions', () => {
  const plan = (id: string, dataGb: number | undefined, durationDays: number, codes: string) =>
    esim(id, {
      allowance: { ...(dataGb === undefined ? { dataUnlimited: true } : { dataGb }), durationDays },
      coverage: codes.split(' ').map((country) => ({ country, speeds: [] })),
      price: fixed(100 * durationDays),
    })
  const plans = [plan('A', 1, 7, 'FR DE'), plan('B', 10, 30, 'FR'), plan('C', undefined, 7, 'DE')]
  const cards = [
    topup('T1', { brand: 'MTN', brandName: 'MTN', country: 'GH', faceValue: fixed(500, 'GHS') }),
    topup('T2', {
      brand: 'GLO',
      brandName: 'Glo',
      country: 'NG',
      price: open(100, 900),
      faceValue: open(100, 900),
    }),
    topup('T3', { brand: 'MTN', brandName: 'MTN Nigeria', country: 'NG', price: fixed(300) }),
  ]
  const { esim: ofPlans, topup: ofCards } = catalogOf([...plans, ...cards], pricing).sold

  test.each<readonly [Filters, readonly string[]]>([
    [{ minDataGb: 5 }, ['B', 'C']],
    [{ minDataGb: Number.POSITIVE_INFINITY }, ['C']],
    [{ minDays: 8 }, ['B']],
    [{ maxDays: 7 }, ['A', 'C']],
    [{ covers: ['FR', 'DE'] }, ['A']],
    [{ maxUsdc: 7 }, ['A', 'C']],
    [{ minUsdc: 8 }, ['B']],
    [{ any: [{ minDays: 8 }, { covers: ['DE'] }] }, ['A', 'B', 'C']],
    [{ none: [{ covers: ['DE'] }] }, ['B']],
    [{ none: [], any: [{ none: [{ minDataGb: 5 }] }] }, ['A']],
  ])('%j finds plans %j', (asked, ids) => {
    expect(
      ofPlans
        .search(asked, all)
        .offers.map(({ id }) => id)
        .sort(),
    ).toEqual(ids)
  })

  test.each<readonly [Filters, readonly string[]]>([
    [{ brandKeys: ['mtn'] }, ['T1', 'T3']],
    [{ brandKeys: ['GLO', 'MTN'], countries: ['NG'] }, ['T2', 'T3']],
    [{ countries: ['GH', 'XX'] }, ['T1']],
    [{ currency: 'GHS' }, ['T1']],
    [{ currency: 'USD', faceValue: 5 }, ['T2']],
    [{ faceValue: 9.5 }, []],
    [{ exactText: 'nigeri' }, ['T2', 'T3']],
    [{ exactText: 'nigerua' }, []],
    [{ text: 'nigerua' }, ['T2', 'T3']],
  ])('%j finds topups %j', (asked, ids) => {
    expect(
      ofCards
        .search(asked, all)
        .offers.map(({ id }) => id)
        .sort(),
    ).toEqual(ids)
  })

  test('brands are told with their spellings, countries and offers', () => {
    expect(ofCards.brands()).toEqual([
      { brand: 'GLO', names: ['Glo'], countries: ['NG'], offers: 1 },
      { brand: 'MTN', names: ['MTN', 'MTN Nigeria'], countries: ['GH', 'NG'], offers: 2 },
    ])
  })
})

test('what is not sold has no word, value or spelling among what is sold', () => {
  const { listed, sold } = catalogOf(
    [
      voucher('A', { brandName: 'One' }),
      voucher('B', { brandName: 'Two', price: fixed(1, 'XTS') }),
    ],
    pricing,
  )
  expect([listed.voucher.count({ text: 'two' }), sold.voucher.count({ text: 'two' })]).toEqual([
    1, 0,
  ])
  expect(listed.voucher.spelled('brandName', 'twö')).toBe('Two')
  expect(sold.voucher.spelled('brandName', 'twö')).toBeUndefined()
  expect(sold.voucher.values('brandName')).toEqual(['One'])
})

describe('what a text finds', () => {
  const named = (id: string, brandName: string, more: Partial<Offer> = {}) =>
    voucher(id, { brand: brandName.toUpperCase(), brandName, ...more } as object)
  const { listed } = catalogOf(
    [
      named('EXACT', 'Claro'),
      named('BEGINS', 'Claro Max'),
      voucher('WORDS', { brandName: 'Bell', description: 'As good as L’Oréal of Claro' }),
      named('TYPO', 'Clara'),
      voucher('TYPO_IN_TEXT', { brandName: 'Acme', description: 'Better than Clar' }),
      ...Array.from({ length: 40 }, (_, at) => named(`OTHER_${at}`, `Other ${at}`)),
    ],
    pricing,
  )
  const idsOf = (text: string, page = all) =>
    listed.voucher.search({ text }, page).offers.map(({ id }) => id as string)

  test.each([
    ['claro', ['EXACT', 'BEGINS', 'WORDS', 'TYPO', 'TYPO_IN_TEXT']],
    ['CLÁRO max', ['BEGINS']],
    ['max claro', ['BEGINS']],
    ['cla', ['TYPO', 'EXACT', 'BEGINS', 'TYPO_IN_TEXT', 'WORDS']],
    ['oreal claro', ['WORDS']],
    ["l'oreal clraro", ['WORDS']],
    ['lorael', ['WORDS']],
    ['aro', []],
    [' - ', []],
  ])('"%s" comes by how well it matches: %j', (text, ids) => {
    expect(idsOf(text)).toEqual(ids)
    const pages = [0, 2, 4].flatMap((offset) => idsOf(text, { offset, limit: 2 }))
    expect(pages).toEqual(ids)
  })
})
