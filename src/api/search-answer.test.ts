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
import type { Offer } from '../catalog/offer.ts'
import { retailOf } from '../catalog/pricing.ts'
import { type Page, search } from '../catalog/search/search.ts'
import { type SearchRequest, searchQuery } from './search-answer.ts'
import { catalogOffer } from './views/catalog-offer.ts'
import { discoveryOffer } from './views/discovery-offer.ts'

const pricing = fixturePricing()
const siteUrl = 'https://kiosk.example'
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
): Buffer {
  const hint = () => ({ message: 'Nothing.', parameter: 'country', nearest: 'DE' })
  const { answer } = searchQuery({
    index: catalog.listed.voucher,
    asked: { params, page, filters: params, hint },
    form: 'catalog',
    ...changes,
  })
  return answer() as Buffer
}

function pageOf(catalog: Catalog, view: (offer: Offer) => object, limit = 50) {
  const { voucher: index } = catalog.listed
  const { total, docs } = search(index, {}, { limit, offset: 0 })
  const items = Array.from(docs, (doc) => view(index.offerAt(doc)))
  return { total, limit, offset: 0, items }
}

const inCatalog = (offer: Offer) => catalogOffer(offer, { siteUrl, pricing })
const inDiscovery = (offer: Offer) =>
  discoveryOffer(offer, retailOf(offer, pricing), { siteUrl, markupBps: 0 })

test('an answer is the JSON of the views, in both forms', () => {
  const catalog = catalogOf(shopOffers, pricing)
  expect(answered(catalog).toString()).toBe(JSON.stringify(pageOf(catalog, inCatalog)))
  expect(answered(catalog, { form: 'discovery' }).toString()).toBe(
    JSON.stringify(pageOf(catalog, inDiscovery)),
  )
})

test('longer than the room that is kept for answers, and in any script', () => {
  const offers = Array.from({ length: 60 }, (_, at) =>
    voucher(`Ü${at}`, { description: `${at} 好😀é`.repeat(400), brandName: `Ä "${at}"\n` }),
  )
  const catalog = catalogOf(offers, pricing)
  const answer = answered(catalog, { page: { limit: 60, offset: 0 } })
  expect(answer.length).toBeGreaterThan(4 * 64 * 1024)
  expect(answer.equals(Buffer.from(JSON.stringify(pageOf(catalog, inCatalog, 60))))).toBe(true)
  const viewed = answered(catalog, { page: { limit: 60, offset: 0 }, view: inCatalog })
  expect(viewed.equals(answer)).toBe(true)
})

test('two answers after each other have nothing in common', () => {
  const catalog = catalogOf(shopOffers, pricing)
  const first = answered(catalog)
  const before = first.toString()
  const second = answered(catalog, { form: 'discovery' })
  expect(first.toString()).toBe(before)
  expect(first.buffer).not.toBe(second.buffer)
})

test('facets stand beside the page, quoted as JSON, and come again', () => {
  const offers = [
    voucher('A', { brandName: 'Ä "1"', regions: ['好'], subTypes: [] }),
    voucher('B', { brandName: 'B', country: 'DE', regions: [], subTypes: ['x\\y'] }),
  ]
  const catalog = catalogOf(offers, pricing)
  for (const _ of ['made', 'kept']) {
    expect(JSON.parse(answered(catalog, { hasFacets: true }).toString()).facets).toEqual({
      countries: ['DE', 'US'],
      regions: ['好'],
      brands: ['Ä "1"', 'B'],
      subTypes: ['x\\y'],
    })
  }
})

test('where nothing is found a hint stands in the answer, and nowhere else', () => {
  const catalog = catalogOf(shopOffers, pricing)
  const empty = JSON.parse(answered(catalog, { params: { country: 'ZZ' } }).toString())
  expect(empty).toMatchObject({
    total: 0,
    items: [],
    hint: { parameter: 'country', nearest: 'DE' },
  })
  expect(JSON.parse(answered(catalog).toString())).not.toHaveProperty('hint')
  // A page after the last one is empty too, although something was found.
  const behind = answered(catalog, { page: { limit: 5, offset: 500 } })
  expect(JSON.parse(behind.toString())).toEqual({ total: 7, limit: 5, offset: 500, items: [] })
})

test('an answer that fails half-way leaves nothing behind for the next one', () => {
  const catalog = catalogOf(shopOffers, pricing)
  const view = () => {
    throw new Error('broken')
  }
  expect(() => answered(catalog, { view })).toThrow('broken')
  expect(answered(catalog).toString()).toBe(JSON.stringify(pageOf(catalog, inCatalog)))
})

test('rates that turn too old show at once, and finished offers again when they are fresh', async () => {
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
