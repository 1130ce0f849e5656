import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import { fold, wordsOf } from '../../primitives/text.ts'
import type { Catalog } from '../catalog.ts'
import { countryNames } from '../countries.ts'
import type { Offer } from '../offer.ts'
import { valuesAt } from './column.ts'
import type { Docs } from './docs.ts'
import type { Facets } from './facets.ts'
import { type Filters, matching } from './filters.ts'
import { type Page, search, searchWithFacets } from './search.ts'
import type { SearchIndex } from './search-index.ts'
import { isTypoOf } from './words.ts'

/*
 * The twin: every rule of decisions 2 written down a second time, one offer at a time and without
 * any index, and compared with the search over random small catalogs and queries.
 */

const brands = [
  ['AMAZON', 'Amazon'],
  ['AMAZON_DE', 'Amazon.de'],
  ['AMA', 'Ama Café'],
  ['CLARO', 'Claro'],
  ['CLARA', 'Clara'],
  ['PRIME', 'Amazon Prime'],
  // Its key is the whole word although its name comes last.
  ['AMAZON', 'Zon'],
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
  'AMAZÓN',
  'amazom prme',
  'good amazom',
  '',
  ' - ',
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
const vouchers = fc.record({
  brand,
  shared,
  subTypes: fc.subarray(['Shopping', 'Fuel']),
  description: fc.constantFrom('Good for amazon', 'Prime goods', 'Nothing'),
  sold: fc.boolean(),
})
const plans = fc.record({
  brand,
  shared,
  covered: fc.subarray(countries),
  regional: fc.boolean(),
  days: fc.constantFrom(7, 30),
})

/** Whether only what is sold is looked at is a choice of index, and a filter to the twin. */
type Asked = Filters & { readonly sold?: boolean | undefined }

const filters: fc.Arbitrary<Asked> = fc.record(
  {
    sold: fc.boolean(),
    brand: fc.constantFrom('amazon', 'AMA', 'mazon', 'CAFÉ', 'café ama', 'amazon_de', 'prime'),
    text: fc.constantFrom(...texts),
    country: fc.constantFrom(...countries, 'JP'),
    subType: fc.constantFrom('shopping', 'Fuel', 'Dating'),
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

test('finds what the rules say, in the order and on the page they say: vouchers', () => {
  fc.assert(
    fc.property(fc.array(vouchers, { maxLength: 12 }), filters, page, (rows, asked, wanted) => {
      compare(rows.map(voucherOf), asked, wanted)
    }),
    { numRuns: 1500 },
  )
})

test('puts what a text finds in order', () => {
  const asked = fc.record({ text: fc.constantFrom(...texts) })
  fc.assert(
    fc.property(fc.array(vouchers, { maxLength: 12 }), asked, (rows, filters) => {
      compare(rows.map(voucherOf), filters, { limit: 50, offset: 0 })
    }),
    { numRuns: 1000 },
  )
})

test('finds what the rules say, in the order and on the page they say: eSIM plans', () => {
  fc.assert(
    fc.property(fc.array(plans, { maxLength: 12 }), filters, page, (rows, asked, wanted) => {
      const offers = rows.map(({ brand: [key, name], shared, covered, regional, days }, at) => {
        const { country, ...others } = shared
        return esim(`E${at}`, {
          ...others,
          ...(regional ? {} : { country }),
          brand: key,
          brandName: name,
          allowance: { durationDays: days },
          coverage: covered.map((code) => ({ country: code, speeds: [] })),
        })
      })
      compare(offers, asked, wanted)
    }),
    { numRuns: 1500 },
  )
})

test('topups that only their id tells apart keep one order over all pages', () => {
  const offers = Array.from({ length: 25 }, (_, at) => topup(`T${(at * 7) % 25}`))
  const index = catalogOf(offers, fixturePricing()).listed.topup
  const pages = [0, 10, 20].flatMap((offset) =>
    idsOf(index, search(index, {}, { limit: 10, offset }).docs),
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

/** Over more docs than one word of bits holds, and asked twice: what is remembered stays true. */
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
    { numRuns: 60 },
  )
})

test('offers without a country, region or sub-type are found and bring no empty facet', () => {
  const { country: _, ...plain } = esim('E1', { regions: [], subTypes: [] })
  const offers = [plain, esim('E2', { country: 'GT' })]
  for (const asked of [{}, { country: 'GT' }, { text: 'guatemala' }, { regions: ['Global'] }]) {
    compare(offers, asked, { limit: 5, offset: 0 })
  }
})

function compare(offers: Offer[], asked: Asked, wanted: Page) {
  compareWith(catalogOf(offers, fixturePricing()), offers, asked, wanted)
}

function compareWith(catalog: Catalog, offers: Offer[], { sold, ...asked }: Asked, wanted: Page) {
  const index = (sold ? catalog.sold : catalog.listed)[offers[0]?.kind ?? 'voucher']
  const expected = twinSearch(offers, { sold, ...asked })
  const found = search(index, asked, wanted)
  expect(found.total).toBe(expected.length)
  expect(idsOf(index, found.docs)).toEqual(
    expected.slice(wanted.offset, wanted.offset + wanted.limit).map(({ id }) => id),
  )
  const { facets, ...alike } = searchWithFacets(index, asked, wanted)
  expect(alike).toEqual(found)
  expect(namesOf(index, facets)).toEqual(twinFacets(offers, { sold, ...asked }))
  expect(idsOf(index, matching(index, asked)).sort()).toEqual(expected.map(({ id }) => id).sort())
}

function idsOf(index: SearchIndex, docs: Docs): string[] {
  return Array.from(docs, (doc) => index.offerAt(doc).id)
}

function namesOf(index: SearchIndex, facets: Facets) {
  return {
    countries: valuesAt(index.countries, facets.countries),
    regions: valuesAt(index.regions, facets.regions),
    brands: valuesAt(index.brandNames, facets.brandNames),
    subTypes: valuesAt(index.subTypes, facets.subTypes),
  }
}

function twinSearch(offers: readonly Offer[], asked: Asked): Offer[] {
  const keyOf = (offer: Offer) => {
    const price = offer.price.type === 'FIXED' ? offer.price.fixed : offer.price.min
    const name = `${fold(offer.brandName)}\u0000${offer.brandName}`
    return [rankOf(offer, asked.text), name, String(price).padStart(9, '0'), offer.id].join(
      '\u0001',
    )
  }
  return offers
    .filter((offer) => meets(offer, asked))
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

function twinFacets(offers: readonly Offer[], asked: Asked) {
  const among = (own: keyof Filters, valuesOf: (offer: Offer) => readonly string[]) => {
    const { [own]: _, ...others } = asked
    const values = new Set(offers.filter((offer) => meets(offer, others)).flatMap(valuesOf))
    return [...values].sort((one, other) => (fold(one) < fold(other) ? -1 : 1))
  }
  return {
    countries: among('country', ({ country }) => (country ? [country] : [])),
    regions: among('regions', (offer) => offer.regions),
    brands: among('brand', ({ brandName }) => [brandName]),
    subTypes: among('subType', (offer) => offer.subTypes),
  }
}

function meets(offer: Offer, asked: Asked): boolean {
  const { country, subType, covers = [], durationDays } = asked
  const { covered, days, regional } = planOf(offer)
  return [
    !asked.sold || offer.kind !== 'voucher' || offer.requiredFields.length === 0,
    asked.brand === undefined || hasBrand(offer, asked.brand),
    asked.text === undefined || rankOf(offer, asked.text) < 9,
    country === undefined || offer.country === country,
    subType === undefined || offer.subTypes.some((each) => fold(each) === fold(subType)),
    asked.regions === undefined || asked.regions.some((each) => offer.regions.includes(each)),
    !asked.multiCountry || regional,
    covers.every((code) => covered.includes(code) || offer.country === code),
    durationDays === undefined || days === durationDays,
    meetsValue(offer, asked),
  ].every(Boolean)
}

function planOf(offer: Offer) {
  if (offer.kind !== 'esim') return { covered: [], days: undefined, regional: false }
  const covered = offer.coverage.map(({ country }) => country)
  return { covered, days: offer.allowance.durationDays, regional: offer.country === undefined }
}

function meetsValue({ price }: Offer, { minUsd = 0, maxUsd = 99 }: Filters): boolean {
  const [least, most] = price.type === 'FIXED' ? [price.fixed, price.fixed] : [price.min, price.max]
  return most >= minUsd * 100 && least <= maxUsd * 100
}

function hasBrand({ brand, brandName }: Offer, value: string): boolean {
  const names = [fold(brand), fold(brandName)]
  const words = wordsOf(brandName)
  return (
    names.includes(fold(value)) ||
    wordsOf(value).every((word) => words.some((known) => known.startsWith(word)))
  )
}

/** 9 is not found at all. */
function rankOf(offer: Offer, text: string | undefined): number {
  if (text === undefined) return 0
  if (wordsOf(text).length === 0) return 9
  const words = wordsIn(offer)
  const forms = [offer.brand, offer.brandName].map((name) => wordsOf(name).join(' '))
  const phrase = wordsOf(text).join(' ')
  const exact = wordsOf(text).every((word) => words.some((known) => known.startsWith(word)))
  if (exact && forms.includes(phrase)) return 0
  if (exact) return forms.some((form) => form.startsWith(phrase)) ? 1 : 2
  const near = wordsOf(text).every((word) =>
    words.some((known) => known.startsWith(word) || isTypoOf(word, known)),
  )
  if (!near) return 9
  return forms.some((form) => isTypoOf(phrase, form)) ? 3 : 4
}

function wordsIn(offer: Offer): string[] {
  const description = offer.kind === 'voucher' ? offer.description : undefined
  const { brand, brandName, shortNotes, subTypes, regions: places, country } = offer
  const names = country === undefined ? [] : countryNames(country)
  const texts = [brand, brandName, description, shortNotes, ...subTypes, ...places, ...names]
  return texts.flatMap((text) => wordsOf(text ?? ''))
}
