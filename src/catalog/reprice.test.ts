import { expect, test, vi } from 'vitest'
import { catalogOf, catalogWorkerOf } from '../../test/fixtures/catalog.ts'
import { fixed, fixtureNow, fixturePricing, shopOffers, topup } from '../../test/fixtures/offers.ts'
import { inTurn } from '../lib/in-turn.ts'
import { createLiveCatalog } from './catalog.ts'
import type { Offer } from './offer.ts'
import type { CatalogWorker, RateTable } from './ports.ts'
import { type RefreshDeps, refreshCatalog, reprice } from './refresh.ts'

const days = (count: number) => new Date(fixtureNow.getTime() + count * 24 * 3_600_000)

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
  const source = { list: async () => ({ offers: world.offers, rejected: { dirty: 2 } }) }
  const catalogWorker = catalogWorkerOf(source)
  const build = vi.fn(catalogWorker.build)
  const liveCatalog = createLiveCatalog(
    offers.length === 0 ? undefined : catalogOf(offers, pricing),
  )
  const deps: RefreshDeps = {
    catalogWorker: { ...catalogWorker, build },
    snapshots: { save: async () => undefined, load: async () => undefined },
    liveCatalog,
    pricing,
    inTurn: inTurn(),
    now: () => world.now,
    signal: new AbortController().signal,
  }
  return { world, deps, liveCatalog, build }
}

test('prices stay as they are while neither rates nor their age change', async () => {
  const { world, deps, liveCatalog, build } = store()
  const before = liveCatalog.current()
  world.rates = structuredClone(world.rates)
  await reprice(deps)
  world.now = new Date(fixtureNow.getTime() + 3_600_000)
  await reprice(deps)
  expect(build).not.toHaveBeenCalled()
  expect(liveCatalog.current()).toBe(before)
})

test('new rates bring new prices, of the same list', async () => {
  const { world, deps, liveCatalog, build } = store()
  const before = liveCatalog.current()
  world.rates = { asOf: fixtureNow, source: 'new', perUsd: { EUR: 0.5, JPY: 150, GTQ: 7.7 } }
  await reprice(deps)
  expect(build).toHaveBeenCalledTimes(1)
  const { records, readAt, rejected, size } = liveCatalog.current()
  expect(liveCatalog.current()).not.toBe(before)
  expect({ records, readAt, rejected, size }).toEqual({
    records: before.records,
    readAt: before.readAt,
    rejected: before.rejected,
    size: before.size,
  })
})

test('rates that turn too old, and fresh again, change what is sold: each time once', async () => {
  const { world, deps, liveCatalog, build } = store([topup('EURO', { price: fixed(1000, 'EUR') })])
  expect(liveCatalog.current().sold.topup.size).toBe(1)
  world.now = days(30)
  await reprice(deps)
  expect(liveCatalog.current()).toMatchObject({
    stale: 'zendit/topup rates',
    sold: { topup: { size: 0 } },
  })
  await reprice(deps)
  expect(build).toHaveBeenCalledTimes(1)
  world.now = fixtureNow
  await reprice(deps)
  expect(liveCatalog.current()).toMatchObject({ stale: '', sold: { topup: { size: 1 } } })
  expect(build).toHaveBeenCalledTimes(2)
})

test('rates that were never read are not too old', async () => {
  const { world, deps, build } = store()
  world.rates = undefined
  world.now = days(1)
  await reprice(deps)
  expect(build).not.toHaveBeenCalled()
})

test('an empty catalog has nothing to price', async () => {
  const { world, deps, build } = store([])
  world.rates = { asOf: fixtureNow, source: 'new', perUsd: { EUR: 0.5 } }
  await reprice(deps)
  expect(build).not.toHaveBeenCalled()
})

/** A catalog worker whose first build waits until the test calls `go` or `fail`. */
function slowFirst(build: CatalogWorker['build']) {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let isFirst = true
  const slow: CatalogWorker['build'] = async (...given) => {
    if (isFirst) {
      isFirst = false
      begun.resolve()
      await gate.promise
    }
    return build(...given)
  }
  return { slow, begun: begun.promise, go: gate.resolve, fail: gate.reject }
}

test('a slow catalog of an older list never replaces one of a newer list', async () => {
  const { world, deps, liveCatalog, build } = store()
  const { slow, begun, go } = slowFirst(build)
  const slowly = { ...deps, catalogWorker: { ...deps.catalogWorker, build: slow } }
  world.rates = { asOf: fixtureNow, source: 'new', perUsd: { EUR: 0.5 } }
  const repriced = reprice(slowly)
  await begun
  world.offers = [...shopOffers, topup('NEW')]
  const refreshed = refreshCatalog(slowly)
  go()
  await Promise.all([repriced, refreshed])
  expect(liveCatalog.current().find('NEW')?.id).toBe('NEW')
})

test('new rates that come while a list is built are worked into that list', async () => {
  const { world, deps, liveCatalog, build } = store()
  const { slow, begun, go } = slowFirst(build)
  const slowly = { ...deps, catalogWorker: { ...deps.catalogWorker, build: slow } }
  world.offers = [...shopOffers, topup('NEW', { price: fixed(1000, 'EUR') })]
  const refreshed = refreshCatalog(slowly)
  await begun
  const rates: RateTable = { asOf: fixtureNow, source: 'new', perUsd: { EUR: 2 } }
  world.rates = rates
  const repriced = reprice(slowly)
  go()
  await Promise.all([refreshed, repriced])
  expect(liveCatalog.current().find('NEW')?.id).toBe('NEW')
  expect(build.mock.lastCall?.[1]).toMatchObject({ rates })
})

test('prices that could not be worked out are told, and leave the catalog and the next prices as they are', async () => {
  const { world, deps, liveCatalog, build } = store()
  const { slow, begun, fail } = slowFirst(build)
  const slowly = { ...deps, catalogWorker: { ...deps.catalogWorker, build: slow } }
  const before = liveCatalog.current()
  world.rates = { asOf: fixtureNow, source: 'new', perUsd: { EUR: 0.5 } }
  const failed = expect(reprice(slowly)).rejects.toThrow('no memory')
  await begun
  fail(new Error('no memory'))
  await failed
  expect(liveCatalog.current()).toBe(before)
  await reprice(slowly)
  expect(liveCatalog.current()).not.toBe(before)
})
