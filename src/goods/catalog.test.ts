import { expect, test } from 'vitest'
import {
  fixed,
  fixtureNow,
  fixturePricing,
  shopOffers,
  snapshotOf,
  voucher,
} from '../../test/fixtures/offers.ts'
import type { OfferId } from '../primitives/ids.ts'
import { buildCatalog, createShelf } from './catalog.ts'

const pricing = fixturePricing()
const version = (offers = shopOffers, prices = pricing) =>
  buildCatalog(snapshotOf(offers), prices).version

test('the version changes when, and only when, the content changes', () => {
  const reordered = shopOffers.toReversed().map((offer) => {
    const entries = Object.entries(structuredClone(offer)).toReversed()
    return Object.fromEntries(entries) as unknown as typeof offer
  })
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
  expect(buildCatalog(snapshotOf(offers), without).index.voucher.sold).toHaveLength(0)
})

test('prices in several currencies are put in order by what they are in USD', () => {
  const offers = [
    voucher('YEN', { price: fixed(1500, 'JPY', 1) }),
    voucher('EUR', { price: fixed(1000, 'EUR') }),
    voucher('USD', { price: fixed(1050) }),
    voucher('XYZ', { price: fixed(1, 'XYZ') }),
  ]
  const { index } = buildCatalog(snapshotOf(offers), pricing)
  expect(index.voucher.offers.map(({ id }) => id)).toEqual(['YEN', 'USD', 'EUR', 'XYZ'])
})

test('brand names are put in order without case and accents', () => {
  const names = ['Zara', 'adidas', 'Émile', 'Disney', 'fnac']
  const offers = names.map((brandName) => voucher(brandName, { brandName }))
  const { index } = buildCatalog(snapshotOf(offers), pricing)
  const sorted = index.voucher.offers.map(({ brandName }) => brandName)
  expect(sorted).toEqual(['adidas', 'Disney', 'Émile', 'fnac', 'Zara'])
})

test('of two offers with one id the later one counts', () => {
  const catalog = buildCatalog(snapshotOf([voucher('A'), voucher('A', { brand: 'B' })]), pricing)
  expect(catalog.index.voucher.offers).toHaveLength(1)
  expect(catalog.byId.get('A' as OfferId)?.brand).toBe('B')
})

test('a shelf is empty until it is filled, and is swapped whole', () => {
  const shelf = createShelf()
  const before = shelf.current()
  expect(before.byId.size).toBe(0)
  shelf.replace(buildCatalog(snapshotOf(shopOffers), pricing))
  expect(before.byId.size).toBe(0)
  expect(shelf.current().byId.size).toBe(shopOffers.length)
  expect(shelf.current().readAt).toBe(fixtureNow)
})
