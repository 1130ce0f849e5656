import { expect, test } from 'vitest'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import {
  fixed,
  fixtureNow,
  fixturePricing,
  shopOffers,
  voucher,
} from '../../test/fixtures/offers.ts'
import { createLiveCatalog } from './catalog.ts'
import type { SearchIndex } from './search/search-index.ts'

const pricing = fixturePricing()
const offersIn = (index: SearchIndex) => Array.from(index.all, index.offerAt)
const version = (offers = shopOffers, prices = pricing) => catalogOf(offers, prices).version

test('the version changes when, and only when, the content changes', () => {
  const reordered = shopOffers.toReversed()
  expect(version(reordered)).toBe(version())
  expect(version(shopOffers.slice(1))).not.toBe(version())
  const [first, ...rest] = shopOffers
  if (first === undefined) throw new Error('The fixture is empty')
  expect(version([{ ...first, price: fixed(2501) } as typeof first, ...rest])).not.toBe(version())
})

test('what is sold, and so the version, depends on the rates', () => {
  const offers = [voucher('A', { price: fixed(1000, 'EUR') })]
  const without = fixturePricing({ rates: () => undefined })
  expect(version(offers, without)).not.toBe(version(offers))
  expect(catalogOf(offers, without).sold.voucher.size).toBe(0)
})

test('prices in several currencies are put in order by what they are in USD', () => {
  const offers = [
    voucher('YEN', { price: fixed(1500, 'JPY', 1) }),
    voucher('EUR', { price: fixed(1000, 'EUR') }),
    voucher('USD', { price: fixed(1050) }),
    voucher('XYZ', { price: fixed(1, 'XYZ') }),
  ]
  const { voucher: index } = catalogOf(offers, pricing).listed
  expect(offersIn(index).map(({ id }) => id)).toEqual(['YEN', 'USD', 'EUR', 'XYZ'])
})

test('brand names are put in order without case and accents', () => {
  const names = ['Zara', 'adidas', 'Émile', 'Disney', 'fnac']
  const offers = names.map((brandName) => voucher(brandName, { brandName }))
  const { voucher: index } = catalogOf(offers, pricing).listed
  const sorted = offersIn(index).map(({ brandName }) => brandName)
  expect(sorted).toEqual(['adidas', 'Disney', 'Émile', 'fnac', 'Zara'])
})

test('of two offers with one id the later one counts', () => {
  const catalog = catalogOf([voucher('A'), voucher('A', { brand: 'B' })], pricing)
  expect(catalog.listed.voucher.size).toBe(1)
  expect(catalog.find('A')?.brand).toBe('B')
})

test('of two ids with one hash each finds its own offer, and an id that nothing has finds none', () => {
  const ids = ['ID-000199bb', 'ID-00052848']
  const [one = '', other = ''] = ids
  const both = catalogOf([voucher(one), voucher(other)], pricing)
  expect(ids.map((id) => both.find(id)?.id)).toEqual(ids)
  const only = catalogOf([voucher(one)], pricing)
  expect([only.find(other), only.find(''), createLiveCatalog().current().find(one)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('an offer is found by its id, sold or not', () => {
  const catalog = catalogOf(shopOffers, pricing)
  expect(catalog.sold.voucher.size).toBeLessThan(catalog.listed.voucher.size)
  expect(shopOffers.map(({ id }) => catalog.find(id))).toEqual(shopOffers)
})

test('the live catalog is empty until it is loaded, and is swapped whole', () => {
  const liveCatalog = createLiveCatalog()
  const before = liveCatalog.current()
  expect(before.size).toBe(0)
  liveCatalog.replace(catalogOf(shopOffers, pricing))
  expect(before.size).toBe(0)
  expect(liveCatalog.current().size).toBe(shopOffers.length)
  expect(liveCatalog.current().readAt).toBe(fixtureNow)
})
