import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Offer } from '../offer.ts'
import type { Page } from './search-index.ts'
import { compareWith, type TwinFilters } from './twin.fixture.ts'

/* Random small catalogs and queries, compared with what the twin finds. */

const brands = [
  ['AMAZON', 'Amazon'],
  ['AMAZON_DE', 'Amazon.de'],
  ['AMA', 'Ama Café'],
  ['CLARO', 'Claro'],
  ['CLARA', 'Clara'],
  ['PRIME', 'Amazon Prime'],
  // Its key is the whole word "amazon", although its name sorts last.
  ['AMAZON', 'Zon'],
  // Without case and accents, these names equal those of other brands.
  ['AMAZON', 'AMAZÓN'],
  ['amá', 'AMA CAFE'],
  ['CLARO', 'claro'],
  ['PARIS', 'L’Oréal'],
] as const
const countries = ['US', 'DE', 'FR']
const regions = ['Western Europe', 'North America', 'Global']
const texts = [
  'amazon',
  'ama',
  'amazom',
  'cafe',
  'de',
  'prime ama',
  'germany',
  'good',
  'north',
  'clara',
  'clarp',
  'good claro',
  'fuel claro',
  'AMAZÓN',
  'amazom prme',
  'good amazom',
  'loreal',
  "l'oreal",
  'oreal',
  'lorael',
  'oréál',
  '',
  ' - ',
]

/** Names of brands that callers may search by. */
const names = [
  'amazon',
  'AMA',
  'mazon',
  'CAFÉ',
  'café ama',
  'amazon_de',
  'prime',
  'Loreal',
  'oreal',
  "l'oréal",
  '-',
  '',
]

const brand = fc.constantFrom(...brands)
const shared = fc.record({
  country: fc.constantFrom(...countries),
  regions: fc.subarray(regions),
  price: fc.oneof(
    fc.integer({ min: 1, max: 5 }).map((amount) => fixed(amount * 100)),
    fc.integer({ min: 1, max: 3 }).map((amount) => open(amount * 100, 500)),
  ),
})
/** Optional fields are sometimes absent and sometimes empty. */
const vouchers = fc.record(
  {
    brand,
    shared,
    subTypes: fc.subarray(['Shopping', 'shopping', 'Fuel']),
    categories: fc.subarray(['Fuel', 'Books'], { minLength: 1 }),
    description: fc.constantFrom('Good for amazon', 'Prime goods', 'Nothing', ''),
    shortNotes: fc.constantFrom('Not in Germany', ' ', ''),
    sold: fc.boolean(),
  },
  { requiredKeys: ['brand', 'shared', 'subTypes', 'sold'] },
)
const plans = fc.record(
  {
    brand,
    shared,
    subTypes: fc.subarray(['Standard', 'Fuel']),
    covered: fc.subarray(countries),
    regional: fc.boolean(),
    shortNotes: fc.constantFrom('Good for amazon', ''),
    days: fc.constantFrom(7, 30),
  },
  { requiredKeys: ['brand', 'shared', 'subTypes', 'covered', 'regional'] },
)

const filters: fc.Arbitrary<TwinFilters> = fc.record(
  {
    sold: fc.boolean(),
    brand: fc.constantFrom(...names),
    text: fc.constantFrom(...texts),
    country: fc.constantFrom(...countries, 'JP'),
    subType: fc.constantFrom('shopping', 'Fuel', 'Dating'),
    category: fc.constantFrom('fuel', 'Books', 'Shopping'),
    regions: fc.subarray(regions, { minLength: 1 }),
    multiCountry: fc.boolean(),
    covers: fc.subarray(countries),
    durationDays: fc.constantFrom(7, 30, 9),
    minUsd: fc.integer({ min: 0, max: 6 }),
    maxUsd: fc.integer({ min: 0, max: 6 }),
  },
  { requiredKeys: [] },
)
const page = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  offset: fc.integer({ min: 0, max: 6 }),
})

/** Searches per catalog: building one takes far longer than searching it. */
const questionsEach = 4
const several = <T>(one: fc.Arbitrary<T>) =>
  fc.array(one, { minLength: questionsEach, maxLength: questionsEach })
const questions = several(fc.record({ asked: filters, wanted: page }))

test('finds what the rules say, in the order and on the page they say: vouchers', () => {
  fc.assert(
    fc.property(fc.array(vouchers, { maxLength: 12 }), questions, (rows, questions) => {
      compareAll(rows.map(voucherOf), questions)
    }),
    { numRuns: 400 },
  )
})

test('puts what a text finds in order', () => {
  const asked = several(fc.constantFrom(...texts))
  fc.assert(
    fc.property(fc.array(vouchers, { maxLength: 12 }), asked, (rows, texts) => {
      const wanted = { limit: 50, offset: 0 }
      compareAll(
        rows.map(voucherOf),
        texts.map((text) => ({ asked: { text }, wanted })),
      )
    }),
    { numRuns: 240 },
  )
})

test.each(['fuel claro', 'claro fuel', 'fuel', 'claro', 'fule claro'])(
  'what "%s" finds with a typo in one word alone comes last',
  (text) => {
    const named = (brandName: string, at: number) =>
      voucher(`V${at}`, { brand: brandName.toUpperCase(), brandName, subTypes: ['Fuel'] })
    // By name alone, the offer found with a typo would come first.
    const offers = ['Clara', 'Claro', 'Claro Max', 'Zara'].map(named)
    compareAll(offers, [{ asked: { text }, wanted: { limit: 9, offset: 0 } }])
  },
)

test('every page of what a text finds goes on where the one before it ended', () => {
  const asked = fc.record({ text: fc.constantFrom(...texts), sold: fc.boolean() })
  const many = fc.array(vouchers, { minLength: 20, maxLength: 40 })
  fc.assert(
    fc.property(many, asked, fc.integer({ min: 1, max: 7 }), (rows, filters, limit) => {
      const offers = rows.map(voucherOf)
      const catalog = catalogOf(offers, fixturePricing())
      for (let offset = 0; offset <= offers.length; offset += limit) {
        compareWith(catalog, offers, filters, { limit, offset })
      }
    }),
    { numRuns: 40 },
  )
})

test('finds what the rules say, in the order and on the page they say: eSIM plans', () => {
  fc.assert(
    fc.property(fc.array(plans, { maxLength: 12 }), questions, (rows, questions) => {
      compareAll(rows.map(planOf), questions)
    }),
    { numRuns: 400 },
  )
})

test('topups that only their id tells apart keep one order over all pages', () => {
  const offers = Array.from({ length: 25 }, (_, at) => topup(`T${(at * 7) % 25}`))
  const index = catalogOf(offers, fixturePricing()).listed.topup
  const pages = [0, 10, 20].flatMap((offset) =>
    index.search({}, { limit: 10, offset }).offers.map(({ id }) => id),
  )
  expect(pages).toEqual(offers.map(({ id }) => id as string).sort())
})

type VoucherRow = typeof vouchers extends fc.Arbitrary<infer Row> ? Row : never

function voucherOf({ brand: [key, name], shared, sold, ...own }: VoucherRow, at: number): Offer {
  return voucher(`V${at}`, {
    ...shared,
    ...own,
    brand: key,
    brandName: name,
    faceValue: shared.price,
    requiredFields: sold ? [] : ['recipient.address.city'],
  })
}

type PlanRow = typeof plans extends fc.Arbitrary<infer Row> ? Row : never

function planOf(
  { brand: [key, name], shared, covered, regional, days, ...own }: PlanRow,
  at: number,
) {
  const { country, ...others } = shared
  return esim(`E${at}`, {
    ...others,
    ...own,
    ...(regional ? {} : { country }),
    brand: key,
    brandName: name,
    allowance: days === undefined ? {} : { durationDays: days },
    coverage: covered.map((code) => ({ country: code, speeds: [] })),
  })
}

/** With more docs than one word of bits holds, and each query twice, so that cached results are tested. */
test('finds what the rules say in a larger catalog, however often it is asked', () => {
  const many = fc.array(vouchers, { minLength: 60, maxLength: 90 })
  fc.assert(
    fc.property(
      many,
      fc.array(filters, { minLength: 3, maxLength: 5 }),
      page,
      (rows, asked, wanted) => {
        const offers = rows.map(voucherOf)
        const catalog = catalogOf(offers, fixturePricing())
        for (const each of [...asked, ...asked, { country: 'DE' }, {}, { country: 'DE' }]) {
          compareWith(catalog, offers, each, wanted)
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('offers without a country, region or sub-type are found and bring no empty facet', () => {
  const { country: _, ...plain } = esim('E1', { regions: [], subTypes: [] })
  const offers = [plain, esim('E2', { country: 'GT' })]
  const all = [{}, { country: 'GT' }, { text: 'guatemala' }, { regions: ['Global'] }]
  compareAll(
    offers,
    all.map((asked) => ({ asked, wanted: { limit: 5, offset: 0 } })),
  )
})

interface Question {
  readonly asked: TwinFilters
  readonly wanted: Page
}

function compareAll(offers: Offer[], questions: readonly Question[]) {
  const catalog = catalogOf(offers, fixturePricing())
  for (const { asked, wanted } of questions) compareWith(catalog, offers, asked, wanted)
}
