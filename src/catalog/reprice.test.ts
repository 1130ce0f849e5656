import { expect, test } from 'vitest'
import { catalogOf, sourcesOf } from '../../test/fixtures/catalog.ts'
import { fixed, fixtureNow, fixturePricing, shopOffers, topup } from '../../test/fixtures/offers.ts'
import { inTurn } from '../lib/scheduling.ts'
import { createLiveCatalog } from './catalog.ts'
import type { Offer } from './offer.ts'
import { type RefreshDeps, refreshCatalog, reprice } from './refresh.ts'

const days = (count: number) => new Date(fixtureNow.getTime() + count * 24 * 3_600_000)
const newRates = { asOf: fixtureNow, source: 'new', perUsd: { EUR: 0.5, JPY: 150, GTQ: 7.7 } }

/** A store whose clock, rates and list a test can change. */
function store(offers: readonly Offer[] = shopOffers) {
  const world = {
    now: fixtureNow,
    rates: fixturePricing().rates(),
    offers,
  }
  const pricing = fixturePricing({
    rates: () => world.rates,
    readAt: () => fixtureNow,
    now: () => world.now,
  })
  const liveCatalog = createLiveCatalog(
    offers.length === 0 ? undefined : catalogOf(offers, pricing),
  )
  const deps: RefreshDeps = {
    sources: sourcesOf(async () => ({ offers: world.offers, rejected: { dirty: 2 } })),
    snapshots: { save: async () => undefined, load: async () => undefined },
    liveCatalog,
    pricing,
    inTurn: inTurn(),
    now: () => world.now,
    signal: new AbortController().signal,
  }
  return { world, deps, liveCatalog }
}

test('prices stay as they are while neither rates nor their age change', async () => {
  const { world, deps, liveCatalog } = store()
  const before = liveCatalog.current()
  world.rates = structuredClone(world.rates)
  expect(await reprice(deps)).toBe(false)
  world.now = new Date(fixtureNow.getTime() + 3_600_000)
  expect(await reprice(deps)).toBe(false)
  expect(liveCatalog.current()).toBe(before)
})

test('new rates bring new prices, of the same list', async () => {
  const { world, deps, liveCatalog } = store()
  const before = liveCatalog.current()
  world.rates = newRates
  expect(await reprice(deps)).toBe(true)
  const after = liveCatalog.current()
  expect(after).not.toBe(before)
  expect(after.rates).toBe(newRates)
  expect(after).toMatchObject({ readAt: before.readAt, rejected: before.rejected })
  expect([after.offers, after.ids]).toEqual([before.offers, before.ids])
  expect(after.kinds.voucher.stock).toBe(before.kinds.voucher.stock)
})

test('rates that turn too old, and fresh again, change what is sold: each time once', async () => {
  const { world, deps, liveCatalog } = store([topup('EURO', { price: fixed(1000, 'EUR') })])
  expect(liveCatalog.current().sold.topup.size).toBe(1)
  world.now = days(30)
  await reprice(deps)
  expect(liveCatalog.current()).toMatchObject({
    stale: 'zendit/topup rates',
    sold: { topup: { size: 0 } },
  })
  expect(await reprice(deps)).toBe(false)
  world.now = fixtureNow
  expect(await reprice(deps)).toBe(true)
  expect(liveCatalog.current()).toMatchObject({ stale: '', sold: { topup: { size: 1 } } })
})

test('rates that were never read are not too old', async () => {
  const { world, deps } = store()
  world.rates = undefined
  world.now = days(1)
  expect(await reprice(deps)).toBe(false)
})

test('an empty catalog has nothing to price', async () => {
  const { world, deps } = store([])
  world.rates = newRates
  expect(await reprice(deps)).toBe(false)
})

test('a slow catalog of an older list never replaces one of a newer list', async () => {
  const { world, deps, liveCatalog } = store()
  world.rates = newRates
  const repriced = reprice(deps)
  world.offers = [...shopOffers, topup('NEW')]
  await Promise.all([repriced, refreshCatalog(deps)])
  expect(liveCatalog.current().ids.find('NEW')?.id).toBe('NEW')
})

test('new rates that come while a list is built are worked into that list', async () => {
  const { world, deps, liveCatalog } = store()
  world.offers = [...shopOffers, topup('NEW', { price: fixed(1000, 'EUR') })]
  const refreshed = refreshCatalog(deps)
  world.rates = newRates
  await Promise.all([refreshed, reprice(deps)])
  expect(liveCatalog.current().ids.find('NEW')?.id).toBe('NEW')
  expect(liveCatalog.current().rates).toBe(newRates)
})

test('prices that could not be worked out are told, and leave the catalog and the next prices as they are', async () => {
  const { world, deps, liveCatalog } = store()
  const before = liveCatalog.current()
  world.rates = newRates
  const broken = {
    ...deps.pricing,
    get markupBps(): number {
      throw new Error('no memory')
    },
  }
  await expect(reprice({ ...deps, pricing: broken })).rejects.toThrow('no memory')
  expect(liveCatalog.current()).toBe(before)
  expect(await reprice(deps)).toBe(true)
})
