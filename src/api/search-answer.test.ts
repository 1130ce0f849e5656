import { expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import {
  fixed,
  fixtureNow,
  fixturePricing,
  shopOffers,
  voucher,
} from '../../test/fixtures/offers.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Page } from '../catalog/search/search-index.ts'
import { type SearchRequest, searchQuery } from './search-answer.ts'

const pricing = fixturePricing()
interface Params {
  readonly text?: string
  readonly country?: string
}

function answered(
  catalog: Catalog,
  {
    params = {},
    page = { limit: 50, offset: 0 },
    ...changes
  }: Partial<SearchRequest> & { readonly params?: Params; readonly page?: Page } = {},
) {
  const hint = () => ({ message: 'Nothing.', parameter: 'country', nearest: 'DE' })
  const { answer } = searchQuery({
    index: catalog.listed.voucher,
    asked: { params, page, filters: params, hint },
    view: ({ id }) => ({ id }),
    ...changes,
  })
  return answer()
}

test('facets stand beside the page', () => {
  const offers = [
    voucher('A', { brandName: 'Ä "1"', regions: ['好'], subTypes: [] }),
    voucher('B', { brandName: 'B', country: 'DE', regions: [], subTypes: ['x'] }),
  ]
  expect(answered(catalogOf(offers, pricing), { hasFacets: true })).toEqual({
    total: 2,
    limit: 50,
    offset: 0,
    items: [{ id: 'A' }, { id: 'B' }],
    facets: {
      countries: ['DE', 'US'],
      regions: ['好'],
      brands: ['Ä "1"', 'B'],
      subTypes: ['x'],
    },
    facetTotals: { brands: 2 },
  })
})

test('where nothing is found a hint stands in the answer, and nowhere else', () => {
  const catalog = catalogOf(shopOffers, pricing)
  expect(answered(catalog, { params: { country: 'ZZ' } })).toMatchObject({
    total: 0,
    items: [],
    hint: { parameter: 'country', nearest: 'DE' },
  })
  expect(answered(catalog)).not.toHaveProperty('hint')
  // A page after the last one is empty too, although something was found.
  const behind = answered(catalog, { page: { limit: 5, offset: 500 } })
  expect(behind).toEqual({ total: 7, limit: 5, offset: 500, items: [] })
})

test('rates that turn too old show at once, and fresh ones too', async () => {
  let now = fixtureNow
  const later = new Date(fixtureNow.getTime() + 30 * 24 * 3_600_000)
  const prices = fixturePricing({ now: () => now, readAt: () => now })
  const offers = [voucher('EURO', { price: fixed(1000, 'EUR') }), voucher('USD')]
  const { app, deps } = testApp({ pricing: prices })
  const stale = catalogOf(offers, fixturePricing({ now: () => later, readAt: () => later }))
  const fresh = catalogOf(offers, fixturePricing())
  const ask = async () => (await app.inject('/api/catalog/vouchers/offers')).body
  const available = (body: string) =>
    JSON.parse(body).items.map((item: { offerId: string; available: boolean }) => [
      item.offerId,
      item.available,
    ])

  deps.liveCatalog.replace(fresh)
  const before = await ask()
  expect(available(before)).toEqual([
    ['EURO', true],
    ['USD', true],
  ])
  now = later
  const live = await ask()
  expect(available(live)).toEqual([
    ['EURO', false],
    ['USD', true],
  ])
  deps.liveCatalog.replace(stale)
  expect(await ask()).toBe(live)
  now = fixtureNow
  expect(await ask()).toBe(before)
  deps.liveCatalog.replace(fresh)
  expect(await ask()).toBe(before)
})
