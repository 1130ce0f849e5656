import countries from 'i18n-iso-countries/index.js'
import { expect, test } from 'vitest'
import type { Offer } from '../models.ts'
import { rateOf } from '../rates.ts'
import { families, makeCatalog } from './catalog.ts'
import { outcomes } from './test-offers.ts'

const catalog = makeCatalog(12_000)
const clean = (offer: Offer) => offer.offerId !== undefined && !offer.offerId.startsWith('DIRTY-')
const all = families.flatMap((family) => catalog.lists[family])

test('of up to a hundred offers has all kinds, values, regions and outcomes, and no flaw', () => {
  const { lists } = makeCatalog(60)
  const small = families.flatMap((family) => lists[family])
  expect(small).toHaveLength(60)
  expect(small.every(clean)).toBe(true)
  const isTest = ({ brand }: Offer) => brand === 'TEST'
  expect(small.filter(isTest)).toHaveLength(3 * outcomes.length + 1)
  const others = small.filter((offer) => !isTest(offer))
  for (const family of families) expect(lists[family].every(isTest)).toBe(false)
  expect(new Set(others.map(({ priceType }) => priceType))).toEqual(new Set(['FIXED', 'RANGE']))
  expect(new Set(others.flatMap(({ regions }) => regions)).size).toBeGreaterThan(7)
})

test.each(families)(
  'of %s begins the same when it is longer, and repeats one id only',
  (family) => {
    const longer = makeCatalog(60_000).lists[family]
    expect(longer.slice(0, catalog.lists[family].length)).toEqual(catalog.lists[family])
    expect(longer.length - new Set(longer.map(({ offerId }) => offerId)).size).toBe(1)
  },
)

test('holds true countries and currencies, whole amounts, and costs no more than its prices', () => {
  expect(all).toHaveLength(12_000)
  for (const offer of all.filter(clean)) {
    if (offer.country !== '') expect(countries.isValid(offer.country), offer.offerId).toBe(true)
    const { price, cost } = offer
    expect(() => rateOf(price.currency)).not.toThrow()
    expect(Number.isInteger(price.fixed ?? price.min), offer.offerId).toBe(true)
    expect(price.fixed ?? price.min).toBeGreaterThan(0)
    if (price.currency !== 'USD') continue
    const most = price.fixed ?? price.max ?? 0
    expect(cost.fixed ?? cost.max, offer.offerId).toBeLessThanOrEqual(most)
  }
})

test('has every sub-type of the published lists and all thirteen regions', () => {
  const subTypesOf = (family: (typeof families)[number]) =>
    new Set(catalog.lists[family].flatMap((offer) => offer.subTypes))
  const published =
    'Gaming & Entertainment, Restaurant, Food & Beverage, Shopping, Travel & Experience, Supermarket, Electronics, Digital Apps, Health & Beauty, Sports & Outdoors, Utilities, Home & Garden, Clothing & Accessories, General Merchandise, Dating, EGIFT, Auto & Moto, Fuel, Online Shopping'
  expect([...subTypesOf('vouchers')]).toEqual(expect.arrayContaining(published.split(', ')))
  const tiers = ['Standard', 'Fast', 'Faster', 'Fastest']
  expect([...subTypesOf('esim')]).toEqual(expect.arrayContaining(tiers))
  const topups = ['Mobile Top Up', 'Mobile Bundle', 'Mobile Data']
  expect([...subTypesOf('topups')]).toEqual(expect.arrayContaining(topups))
  expect(new Set(all.flatMap((offer) => offer.regions)).size).toBe(13)
})

test('gives bundles a blank country, several countries and a coarse region', () => {
  const bundles = catalog.lists.esim.filter((offer) => clean(offer) && offer.country === '')
  expect(bundles.length).toBeGreaterThan(100)
  for (const offer of bundles) {
    expect('roaming' in offer ? offer.roaming.length : 0, offer.offerId).toBeGreaterThan(1)
    const fine = offer.regions.filter((region) => /^South America|South.* Asia/.test(region))
    expect(fine).toEqual([])
  }
})

test('holds the ids that a reader of the supplier’s documentation expects', () => {
  const sells = (family: (typeof families)[number], id: string) =>
    catalog.find(family, id)?.priceType
  expect(sells('vouchers', 'APPLE_US_10_EGIFT')).toBe('FIXED')
  expect(sells('topups', 'CUBACEL_CU_OPEN')).toBe('RANGE')
  expect(sells('topups', 'CLARO_GT_OPEN')).toBe('RANGE')
  expect(sells('esim', 'ESIM-US-7D-1GB')).toBe('FIXED')
})

test.each(families)('of %s holds the flaws that a reader must survive', (family) => {
  const list = catalog.lists[family]
  const flawed = list.flatMap(({ offerId }) => {
    const [, flaw] = /^DIRTY-[A-Z]+-(.*)$/.exec(offerId ?? '') ?? []
    return flaw === undefined ? [] : [flaw]
  })
  const common = ['NO-PRICE', 'PRICE-ZERO', 'PRICE-NEGATIVE', 'DIVISOR-ZERO', 'COUNTRY-ZZ']
  expect(flawed).toEqual(expect.arrayContaining(common))
  expect(flawed.length).toBeGreaterThan(14)
  expect(list.filter((offer) => offer.offerId === undefined)).toHaveLength(1)
  expect(list.filter((offer) => !offer.enabled).length).toBeGreaterThan(5)
})
