import { expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixed, fixtureNow, fixturePricing, topup, voucher } from '../../../test/fixtures/offers.ts'

test('facets stand beside the page, and a hint only where nothing is found', async () => {
  const { app, deps } = testApp({})
  const other = topup('C', { brand: 'X', brandName: 'X' })
  deps.liveCatalog.replace(
    catalogOf(
      [topup('A', { regions: ['Africa'] }), topup('B', { country: 'DE' }), other],
      deps.pricing,
    ),
  )
  const ask = async (query: string) => JSON.parse((await app.inject(`/ai/topups${query}`)).body)
  const facets = { countries: ['DE', 'GT'], brands: ['Claro'] }
  const found = await ask('?country=DE')
  expect(found).toMatchObject({ total: 1, items: [{ offerId: 'B' }], facets })
  expect(found.facetTotals).toEqual({ brands: 1 })
  expect(found).not.toHaveProperty('hint')
  // A page after the last one is empty too, although something was found.
  expect(await ask('?offset=500')).toMatchObject({ total: 3, offset: 500, items: [] })
  expect(await ask('?offset=500')).not.toHaveProperty('hint')
  expect(await ask('?country=FR&brand=claro')).toMatchObject({
    items: [],
    hint: { parameter: 'country', nearest: 'DE' },
  })
})

test('rates that turn too old show at once, and fresh ones too', async () => {
  let now = fixtureNow
  const later = new Date(fixtureNow.getTime() + 30 * 24 * 3_600_000)
  const prices = fixturePricing({ now: () => now, readAt: () => now })
  const offers = [voucher('EURO', { price: fixed(1000, 'EUR') }), voucher('USD')]
  const { app, deps } = testApp({ pricing: prices })
  const stale = catalogOf(offers, fixturePricing({ now: () => later, readAt: () => later }))
  const fresh = catalogOf(offers, fixturePricing())
  const available = async () => {
    const { items } = JSON.parse((await app.inject('/api/catalog/vouchers/offers')).body)
    return items.map((item: { available: boolean }) => item.available)
  }
  deps.liveCatalog.replace(fresh)
  expect(await available()).toEqual([true, true])
  now = later
  expect(await available()).toEqual([false, true])
  deps.liveCatalog.replace(stale)
  expect(await available()).toEqual([false, true])
  now = fixtureNow
  expect(await available()).toEqual([true, true])
})
