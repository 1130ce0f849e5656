import { isValid } from 'i18n-iso-countries'
import { expect, test } from 'vitest'
import type { Offer } from '../models.ts'
import { rateOf } from '../rates.ts'
import { families, makeCatalog } from './catalog.ts'
import { outcomes } from './test-offers.ts'

const catalog = makeCatalog(12_000)
const clean = (offer: Offer) => offer.offerId !== undefined && !offer.offerId.startsWith('DIRTY-')
const all = families.flatMap((family) => catalog.lists[family])

test('is the same on every start and has the number of offers asked for', () => {
  expect(makeCatalog(12_000).lists).toEqual(catalog.lists)
  expect(all).toHaveLength(12_000)
})

test('of up to a hundred offers has all kinds, values, regions and outcomes, and no flaw', () => {
  const { lists } = makeCatalog(60)
  const small = families.flatMap((family) => lists[family])
  expect(small).toHaveLength(60)
  expect(small.every(clean)).toBe(true)
  expect(small.filter(({ brand }) => brand === 'TEST')).toHaveLength(3 * outcomes.length + 1)
  for (const family of families)
    expect(lists[family].some(({ brand }) => brand !== 'TEST')).toBe(true)
  const clear = small.filter(({ brand }) => brand !== 'TEST')
  expect(new Set(clear.map(({ priceType }) => priceType))).toEqual(new Set(['FIXED', 'RANGE']))
  expect(new Set(clear.flatMap(({ regions }) => regions)).size).toBeGreaterThan(7)
  expect(clear.map(({ offerId }) => offerId)).toEqual(
    expect.arrayContaining(['AMAZON_DE_25_EGIFT', 'CUBACEL_CU_OPEN', 'ESIM-US-7D-1GB']),
  )
})

test.each(families)('of %s begins the same when it is longer', (family) => {
  const longer = makeCatalog(30_000).lists[family]
  expect(longer.slice(0, catalog.lists[family].length)).toEqual(catalog.lists[family])
})

test.each(families)('of %s repeats one id only, on purpose', (family) => {
  const ids = makeCatalog(60_000).lists[family].map((offer) => offer.offerId)
  expect(ids.length - new Set(ids).size).toBe(1)
})

test('begins each list with the seven test offers, all under one dollar', () => {
  for (const [family, kind] of [
    ['vouchers', 'VOUCHER'],
    ['topups', 'TOPUP'],
    ['esim', 'ESIM'],
  ] as const) {
    const first = catalog.lists[family].slice(0, 7)
    expect(first.map((offer) => offer.offerId)).toEqual(outcomes.map((o) => `TEST-${kind}-${o}`))
    for (const { price } of first) {
      expect(price.fixed).toBeGreaterThanOrEqual(10)
      expect(price.fixed).toBeLessThanOrEqual(90)
    }
  }
  expect(catalog.find('vouchers', 'TEST-VOUCHER-OPEN')?.price).toMatchObject({
    min: 10,
    max: 95,
    increment: 5,
  })
})

test('holds true countries and currencies, whole amounts, and costs no more than its prices', () => {
  for (const offer of all.filter(clean)) {
    if (offer.country !== '') expect(isValid(offer.country), offer.offerId).toBe(true)
    const { price, cost } = offer
    expect(() => rateOf(price.currency)).not.toThrow()
    expect(Number.isInteger(price.fixed ?? price.min), offer.offerId).toBe(true)
    expect(price.fixed ?? price.min).toBeGreaterThan(0)
    if (price.currency === 'USD') {
      expect(cost.fixed ?? cost.max, offer.offerId).toBeLessThanOrEqual(
        price.fixed ?? price.max ?? 0,
      )
    }
  }
})

test('has every sub-type of the published lists and all thirteen regions', () => {
  const subTypes = new Set(catalog.lists.vouchers.flatMap((offer) => offer.subTypes))
  const published =
    'Gaming & Entertainment, Restaurant, Food & Beverage, Shopping, Travel & Experience, Supermarket, Electronics, Digital Apps, Health & Beauty, Sports & Outdoors, Utilities, Home & Garden, Clothing & Accessories, General Merchandise, Dating, EGIFT, Auto & Moto, Fuel, Online Shopping'
  for (const name of published.split(', ')) expect(subTypes).toContain(name)
  const ofEsims = new Set(catalog.lists.esim.flatMap((offer) => offer.subTypes))
  for (const name of ['Standard', 'Fast', 'Faster', 'Fastest']) expect(ofEsims).toContain(name)
  const ofTopups = new Set(catalog.lists.topups.flatMap((offer) => offer.subTypes))
  for (const name of ['Mobile Top Up', 'Mobile Bundle', 'Mobile Data'])
    expect(ofTopups).toContain(name)
  expect(new Set(all.flatMap((offer) => offer.regions)).size).toBe(13)
})

test('gives bundles a blank country, several countries and a coarse region', () => {
  const bundles = catalog.lists.esim.filter((offer) => clean(offer) && offer.country === '')
  expect(bundles.length).toBeGreaterThan(100)
  for (const offer of bundles) {
    expect('roaming' in offer ? offer.roaming.length : 0, offer.offerId).toBeGreaterThan(1)
    for (const region of offer.regions) {
      expect(['South America', 'South Asia', 'Southeast Asia']).not.toContain(region)
    }
  }
})

test('holds the ids a reader of the supplier documents expects', () => {
  for (const id of ['APPLE_US_10_EGIFT', 'AMAZON_CA_25_EGIFT', 'STEAM_US_25_EGIFT']) {
    expect(catalog.find('vouchers', id)?.offerId).toBe(id)
  }
  expect(catalog.find('topups', 'CUBACEL_CU_OPEN')?.priceType).toBe('RANGE')
  expect(catalog.find('topups', 'CLARO_GT_OPEN')?.priceType).toBe('RANGE')
  expect(catalog.find('esim', 'ESIM-US-7D-1GB')?.priceType).toBe('FIXED')
  expect(catalog.find('vouchers', 'APPLE_US_10_EGIFT')?.price.fixed).toBe(1000)
})

test.each(families)('of %s holds the flaws a reader must survive', (family) => {
  const list = catalog.lists[family]
  const flawed = (id: string) => list.find((offer) => offer.offerId?.endsWith(`-${id}`))
  expect(list.filter((offer) => offer.offerId === undefined)).toHaveLength(1)
  expect(flawed('NO-PRICE')?.price).toBeUndefined()
  expect(flawed('PRICE-ZERO')?.price.fixed).toBe(0)
  expect(flawed('PRICE-NEGATIVE')?.price.fixed).toBe(-500)
  expect(flawed('DIVISOR-ZERO')?.price.currencyDivisor).toBe(0)
  expect(flawed('KEEP-PRICE-JPY')?.price).toMatchObject({ currency: 'JPY', currencyDivisor: 1 })
  expect(flawed('KEEP-PRICE-KWD')?.price).toMatchObject({
    currency: 'KWD',
    currencyDivisor: 1000,
  })
  expect(flawed('COUNTRY-ZZ')?.country).toBe('ZZ')
  expect(flawed('NO-BRAND-NAME')?.brandName).toBe('')
  expect(list.filter((offer) => !offer.enabled).length).toBeGreaterThan(5)
})
