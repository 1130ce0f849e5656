import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixturePricing, voucher } from '../../../test/fixtures/offers.ts'
import type { VoucherOffer } from '../kinds/voucher.ts'
import { valuesAt } from './column.ts'
import type { Filters } from './filters.ts'
import { searchWithFacets } from './search.ts'
import type { SearchIndex } from './search-index.ts'

/*
 * If a text or a brand finds a large part of a large catalog, the values are found in another way than in a
 * small one. The number in a brand name here is its position in the published order.
 */

const countries = ['AT', 'BE', 'CH', 'DE', 'ES'] as const

function offerAt(place: number, changes: Partial<VoucherOffer>): VoucherOffer {
  const brandName = `Brand ${String(place).padStart(5, '0')}`
  const country = countries[place % countries.length] ?? 'AT'
  return voucher(`V${place}`, {
    brand: brandName.toUpperCase().replace(' ', '_'),
    brandName,
    country,
    regions: [`Region ${country}`, 'Everywhere'],
    subTypes: place % 7 === 0 ? [] : [`Type ${place % 3}`],
    description: 'good',
    ...changes,
  })
}

const many = Array.from({ length: 3_000 }, (_, place) => offerAt(place, {}))

/** The offers of `many`, followed by these. */
function withMore(...more: readonly Partial<VoucherOffer>[]): VoucherOffer[] {
  return [...many, ...more.map((changes, at) => offerAt(many.length + at, changes))]
}

const far = { country: 'JP', regions: ['Asia'], subTypes: ['Rare'] }
const bad = { ...far, description: 'bad' }
const good = { ...far, description: 'good' }
const times = <T>(count: number, each: T): T[] => Array(count).fill(each)

const indexOf = (offers: readonly VoucherOffer[]) =>
  catalogOf(offers, fixturePricing()).listed.voucher

function facetsOf(index: SearchIndex, filters: Filters) {
  const { facets, total } = searchWithFacets(index, filters, { limit: 1, offset: 0 })
  return {
    total,
    countries: valuesAt(index.countries, facets.countries),
    regions: valuesAt(index.regions, facets.regions),
    brands: valuesAt(index.brandNames, facets.brands.places),
    brandTotal: facets.brands.total,
    subTypes: valuesAt(index.subTypes, facets.subTypes),
  }
}

function counted(found: readonly VoucherOffer[]) {
  const among = (valuesOf: (offer: VoucherOffer) => readonly string[]) =>
    [...new Set(found.flatMap(valuesOf))].sort()
  const offersOf = Map.groupBy(found, ({ brandName }) => brandName)
  const offersIn = (brand: string) => offersOf.get(brand)?.length ?? 0
  const brands = among(({ brandName }) => [brandName])
  return {
    total: found.length,
    countries: among(({ country }) => (country === undefined ? [] : [country])),
    regions: among(({ regions }) => regions),
    brands: brands.toSorted((one, other) => offersIn(other) - offersIn(one)).slice(0, 100),
    brandTotal: brands.length,
    subTypes: among(({ subTypes }) => subTypes),
  }
}

test.each([
  ['are found at once', withMore(good)],
  ['are few and none of them is found', withMore(...times(8, bad))],
  ['are many and the first of them is found', withMore(good, ...times(200, bad))],
  ['are many and the last looked at is found', withMore(...times(8, bad), good, bad)],
  ['are many and the first not looked at is found', withMore(...times(9, bad), good)],
  ['are many and only the last of them is found', withMore(...times(200, bad), good)],
  ['are many and none of them is found', withMore(...times(200, bad))],
])('a text finds most offers, and those of one country %s', (_, offers) => {
  const found = offers.filter(({ description }) => description === 'good')
  expect(facetsOf(indexOf(offers), { text: 'good' })).toEqual(counted(found))
})

test('so do a brand and several regions', () => {
  const offers = withMore(...times(70, bad), { ...good, brandName: 'Other' }, { ...good })
  const named = offers.filter(({ brandName }) => brandName.startsWith('Brand'))
  // A facet is counted without its own filter.
  const { brands, brandTotal } = counted(offers)
  const index = indexOf(offers)
  expect(facetsOf(index, { brand: 'brand' })).toEqual({ ...counted(named), brands, brandTotal })
  const regions = countries.map((country) => `Region ${country}`)
  const { regions: _, ...inThem } = counted(many)
  expect(facetsOf(index, { regions })).toEqual({ ...inThem, regions: counted(offers).regions })
})

test('of many brands, those with the most offers come first and the others are counted', () => {
  const offers = many.flatMap((offer, place) =>
    times(1 + (place % 150 === 7 ? place : place % 3), offer).map((same, copy) => ({
      ...same,
      id: `${same.id}-${copy}` as typeof same.id,
    })),
  )
  const inGermany = (found: readonly VoucherOffer[]) =>
    found.filter(({ country }) => country === 'DE')
  const index = indexOf(offers)
  expect(facetsOf(index, {})).toEqual(counted(offers))
  const { brands } = counted(inGermany(offers))
  expect(facetsOf(index, { country: 'DE' }).brands).toEqual(brands)
  expect(facetsOf(index, { country: 'DE', text: 'good' }).brands).toEqual(brands)
})

test('pairs of values that each find few offers keep their own result, however often they are asked', () => {
  const offers = many.map((offer, place) => ({
    ...offer,
    country: ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'GB', 'IT', 'JP', 'US'][place % 10] ?? 'AT',
    subTypes: [`Type ${place % 9}`],
  }))
  const index = indexOf(offers)
  const pairs = ['AT', 'BE'].flatMap((country) =>
    ['Type 1', 'Type 2', 'Rare'].map((subType) => ({ country, subType })),
  )
  for (const { country, subType } of [...pairs, ...pairs]) {
    const ofCountry = offers.filter((offer) => offer.country === country)
    const ofType = offers.filter((offer) => offer.subTypes.includes(subType))
    expect(facetsOf(index, { country, subType })).toEqual({
      ...counted(ofCountry.filter((offer) => offer.subTypes.includes(subType))),
      // A facet is counted without its own filter.
      countries: counted(ofType).countries,
      subTypes: counted(ofCountry).subTypes,
    })
  }
})
