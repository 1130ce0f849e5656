import { expect, test, vi } from 'vitest'
import { catalogOf, sourcesOf } from '../../test/fixtures/catalog.ts'
import {
  esim,
  fixed,
  fixturePricing,
  fixtureNow as now,
  topup,
} from '../../test/fixtures/offers.ts'
import { inTurn } from '../lib/scheduling.ts'
import { createLiveCatalog } from './catalog.ts'
import type { Offer } from './offer.ts'
import type { Listing, Snapshot, SnapshotStore } from './ports.ts'
import { type RefreshDeps, refreshCatalog, reprice, serveLast, startRefreshing } from './refresh.ts'
import { sellingRulesOf } from './selling-rules.ts'

const hour = 3_600_000
const after = (ms: number) => new Date(now.getTime() + ms)

function listingOf(topups: number, esims = 0): Listing {
  const offers = [
    ...Array.from({ length: topups }, (_, at) => topup(`O_${at}`)),
    ...Array.from({ length: esims }, (_, at) => esim(`E_${at}`)),
  ]
  return { offers, rejected: { disabled: 3 } }
}

/** Stores snapshots in memory, or fails with `fault`. */
function memory(fault?: Error): SnapshotStore & { readonly kept: Snapshot[] } {
  const kept: Snapshot[] = []
  return {
    kept,
    save: async (snapshot) => {
      if (fault !== undefined) throw fault
      kept.push(snapshot)
    },
    load: async () => {
      if (fault !== undefined) throw fault
      return kept.at(-1)
    },
  }
}

type List = (signal: AbortSignal) => Promise<Listing>

/** A store whose clock and rates a test can change. */
function store(lists: List | readonly List[], snapshots = memory(), signal?: AbortSignal) {
  const world = { now, rates: fixturePricing().rates() }
  const liveCatalog = createLiveCatalog()
  const deps: RefreshDeps = {
    sources: sourcesOf(...[lists].flat()),
    snapshots,
    liveCatalog,
    pricing: fixturePricing({
      rates: () => world.rates,
      readAt: () => now,
      now: () => world.now,
    }),
    inTurn: inTurn(),
    now: () => world.now,
    signal: signal ?? new AbortController().signal,
  }
  const current = liveCatalog.current
  const sizes = () => [current().listed.topup.size, current().listed.esim.size]
  return { world, deps, snapshots, current, sizes, refresh: () => refreshCatalog(deps) }
}

/** A supplier that lists these, one after the other. */
function listing(...lists: readonly Listing[]): List {
  const left = [...lists]
  return async () => left.shift() ?? { offers: [], rejected: {} }
}

const down = () => Promise.reject(new Error('down'))

test('puts the whole list on sale and keeps it for the next start', async () => {
  const { refresh, snapshots, current } = store(listing(listingOf(10)))
  expect(await refresh()).toEqual({
    outcome: 'loaded',
    offers: 10,
    rejected: { disabled: 3 },
    durationMs: 0,
  })
  expect(current().rejected).toEqual({ disabled: 3 })
  expect(snapshots.kept).toEqual([{ ...listingOf(10), readAt: now }])

  const restarted = store(down, snapshots)
  expect(await serveLast(restarted.deps)).toEqual({ outcome: 'served', offers: 10, readAt: now })
  expect(restarted.current().offers).toHaveLength(10)
  expect(restarted.current().offers).toEqual(current().offers)
})

test('does not believe a list of under half of the last one, nor an empty first one', async () => {
  const { refresh, snapshots, current } = store(
    listing(listingOf(0), listingOf(100), listingOf(49), listingOf(0), listingOf(50)),
  )
  expect(await refresh()).toMatchObject({ outcome: 'refused' })
  await refresh()
  expect(await refresh()).toMatchObject({
    outcome: 'refused',
    offers: 49,
    rejected: { disabled: 3 },
    reason: 'The supplier lists 49 topup offers after 100.',
  })
  expect(await refresh()).toMatchObject({ outcome: 'refused', offers: 0 })
  expect(current().offers).toHaveLength(100)
  expect(snapshots.kept).toHaveLength(1)
  expect(await refresh()).toMatchObject({ outcome: 'loaded', offers: 50 })
})

test('holds a kind that nearly vanishes from a list, and takes the others', async () => {
  const { world, refresh, snapshots, current, sizes } = store(
    listing(listingOf(40, 60), listingOf(90, 0), listingOf(91, 20), listingOf(92, 50)),
  )
  await refresh()
  world.now = after(hour)
  expect(await refresh()).toMatchObject({
    outcome: 'loaded',
    offers: 90,
    held: { 'zendit/esim': 'The supplier lists 0 esim offers after 60.' },
  })
  expect(sizes()).toEqual([90, 60])
  expect(current()).toMatchObject({ readAt: world.now, held: { 'zendit/esim': now } })
  expect(snapshots.kept.at(-1)).toMatchObject({ held: { 'zendit/esim': now } })
  expect(await refresh()).toMatchObject({ held: { 'zendit/esim': expect.any(String) } })
  expect(sizes()).toEqual([91, 60])
  expect(current().held).toEqual({ 'zendit/esim': now })
  const last = await refresh()
  expect(last).toMatchObject({ outcome: 'loaded', offers: 142 })
  expect(last).not.toHaveProperty('held')
  expect(sizes()).toEqual([92, 50])
})

test('believes that a kind is gone once what it held is too old to sell', async () => {
  const { world, refresh, sizes } = store(
    listing(listingOf(40, 60), listingOf(40, 0), listingOf(40, 0)),
  )
  await refresh()
  world.now = after(24 * hour)
  expect(await refresh()).toHaveProperty('held')
  world.now = after(24 * hour + 1)
  expect(await refresh()).not.toHaveProperty('held')
  expect(sizes()).toEqual([40, 0])
})

test('changes nothing on sale when the list cannot be read', async () => {
  const list = vi
    .fn<List>()
    .mockResolvedValueOnce(listingOf(4))
    .mockRejectedValue(new Error('down'))
  const { refresh, current } = store(list)
  await refresh()
  const before = current()
  expect(await refresh()).toMatchObject({ outcome: 'failed', reason: 'down' })
  expect(current()).toBe(before)
})

test('sells a list that could not be kept, and says so', async () => {
  const { refresh, current } = store(listing(listingOf(4)), memory(new Error('disk full')))
  expect(await refresh()).toMatchObject({ outcome: 'loaded', notKept: 'disk full' })
  expect(current().offers).toHaveLength(4)
})

test('starts without a last list, and without a database that gives it', async () => {
  expect(await serveLast(store(down).deps)).toEqual({ outcome: 'none' })
  const broken = store(down, memory(new Error('damaged')))
  expect(await serveLast(broken.deps)).toEqual({ outcome: 'failed', reason: 'damaged' })
  expect(broken.current().offers).toEqual([])
})

test('refreshes the catalog every quarter of an hour, and sooner after a bad load', async () => {
  vi.useFakeTimers()
  const stop = new AbortController()
  const list = vi
    .fn<List>()
    .mockResolvedValueOnce(listingOf(10))
    .mockRejectedValueOnce(new Error('down'))
    .mockResolvedValueOnce(listingOf(1))
    .mockResolvedValue(listingOf(12))
  const outcomes: string[] = []
  const { deps } = store(list, memory(), stop.signal)
  const ended = startRefreshing(deps, ({ outcome }) => outcomes.push(outcome))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(outcomes).toEqual(['loaded'])
  await vi.advanceTimersByTimeAsync(15 * 60_000 - 1_001)
  expect(list).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1 + 30_000 + 60_000 + 1_000)
  expect(outcomes).toEqual(['loaded', 'failed', 'refused', 'loaded'])
  stop.abort()
  await ended
  expect(vi.getTimerCount()).toBe(0)
})

test('ends a load that is under way when it is stopped, and reports nothing of it', async () => {
  const stop = new AbortController()
  const list: List = (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const report = vi.fn()
  const ended = startRefreshing(store(list, memory(), stop.signal).deps, report)
  stop.abort()
  await ended
  expect(report).not.toHaveBeenCalled()
})

test('keeps what has not changed since the last reading, and the list as a whole if nothing has', async () => {
  const { deps, snapshots, current } = store([])
  const reading = (price: number) => {
    const offers = [topup('O_0', { price: fixed(price) }), ...listingOf(4).offers.slice(1)]
    const list = async (_: AbortSignal, keep = (one: Offer) => one) => {
      return { rejected: {}, offers: offers.map(keep) }
    }
    return refreshCatalog({ ...deps, sources: new Map([['zendit', { list }]]) })
  }
  await reading(1000)
  const before = current()
  await reading(1000)
  expect(current().offers).toBe(before.offers)
  expect(current().kinds.topup.stock).toBe(before.kinds.topup.stock)
  await reading(2000)
  const { offers } = current()
  expect(offers.map((one, at) => one === before.offers[at])).toEqual([false, true, true, true])
  expect(snapshots.kept.map((one) => one.offers[0]?.price)).toMatchObject([
    { fixed: 1000 },
    { fixed: 1000 },
    { fixed: 2000 },
  ])
})

const ofAcme = (one: Offer): Offer => ({ ...one, source: { supplier: 'acme', product: one.id } })

function acme(count: number): Listing {
  const offers = Array.from({ length: count }, (_, at) => ofAcme(topup(`ACME_${at}`)))
  return { offers, rejected: { disabled: 1 } }
}

test('the lists of two suppliers are on sale as one, each offer with the supplier that lists it', async () => {
  const both = topup('O_3')
  const again = { ...both, id: both.id.toLowerCase() as Offer['id'] }
  const second = { ...acme(4), offers: [...acme(4).offers, ofAcme(both), ofAcme(again)] }
  const { refresh, current } = store([listing(listingOf(10)), listing(second)])
  expect(await refresh()).toMatchObject({ outcome: 'loaded', offers: 16 })
  expect(current().sizes).toEqual({ 'zendit/topup': 10, 'acme/topup': 4 })
  expect(current().rejected).toEqual({ disabled: 4, duplicate_offer_id: 2 })
  expect(current().ids.find('ACME_2')?.source).toEqual({ supplier: 'acme', product: 'ACME_2' })
  expect(current().ids.find(both.id)?.source.supplier).toBe('zendit')
})

test('the lists of two suppliers are read and doubted each by itself', async () => {
  const second = vi
    .fn<List>()
    .mockResolvedValueOnce(acme(4))
    .mockRejectedValueOnce(new Error('away'))
    .mockResolvedValueOnce(acme(5))
    .mockResolvedValueOnce(acme(1))
  const { world, refresh, current } = store([async () => listingOf(10), second])
  await refresh()
  world.now = after(1)
  expect(await refresh()).toMatchObject({
    outcome: 'loaded',
    held: { 'acme/topup': 'away' },
    failed: ['acme'],
  })
  expect(current().sizes).toEqual({ 'zendit/topup': 10, 'acme/topup': 4 })
  expect(current()).toMatchObject({ readAt: world.now, held: { 'acme/topup': now } })
  await refresh()
  expect([current().sizes['acme/topup'], current().held]).toEqual([5, undefined])
  expect(await refresh()).toMatchObject({
    held: { 'acme/topup': 'The supplier lists 1 topup offers after 5.' },
  })
  expect(current().sizes).toEqual({ 'zendit/topup': 10, 'acme/topup': 5 })
})

const inEuro = topup('EURO', { price: fixed(1000, 'EUR') })
const newRates = { asOf: now, source: 'new', perUsd: { EUR: 0.5 } }

/** A store that sells these, loaded before; the next list has one more. */
function stocked(...offers: readonly Offer[]) {
  const more = topup('NEW', { price: fixed(1000, 'EUR') })
  const made = store(listing({ offers: [...offers, more], rejected: { dirty: 2 } }))
  if (offers.length > 0) made.deps.liveCatalog.replace(catalogOf(offers, made.deps.pricing))
  return made
}

test('prices stay as they are while neither rates nor their age change', async () => {
  const { world, deps, current } = stocked(inEuro)
  const before = current()
  world.rates = structuredClone(world.rates)
  expect(await reprice(deps)).toBe(false)
  world.now = after(hour)
  expect(await reprice(deps)).toBe(false)
  // Rates that were never read are not too old.
  world.rates = undefined
  expect(await reprice(deps)).toBe(false)
  expect(current()).toBe(before)
})

test('new rates bring new prices, of the same list', async () => {
  const { world, deps, current } = stocked(inEuro)
  const before = current()
  world.rates = newRates
  expect(await reprice(deps)).toBe(true)
  expect(current()).not.toBe(before)
  expect(current().rates).toBe(newRates)
  expect(current()).toMatchObject({ readAt: before.readAt, rejected: before.rejected })
  expect([current().offers, current().listedIds]).toEqual([before.offers, before.listedIds])
  expect(current().kinds.topup.stock).toBe(before.kinds.topup.stock)
})

test('new rules bring new prices, of the same list', async () => {
  const { deps, current } = stocked(inEuro)
  const before = current()
  const rules = sellingRulesOf([
    { id: 1, scope: { type: 'everything', key: '' }, effect: { type: 'pause' } },
  ])
  const pricing = { ...deps.pricing, rules: () => rules }
  expect(await reprice({ ...deps, pricing })).toBe(true)
  expect(current().rules).toBe(rules)
  expect(current().kinds.topup.stock).toBe(before.kinds.topup.stock)
  expect(await reprice({ ...deps, pricing })).toBe(false)
})

test('rates that turn too old, and fresh again, change what is sold: each time once', async () => {
  const { world, deps, current } = stocked(inEuro)
  expect(current().sold.topup.size).toBe(1)
  world.now = after(30 * 24 * hour)
  await reprice(deps)
  expect(current()).toMatchObject({ stale: 'zendit/topup rates', sold: { topup: { size: 0 } } })
  expect(await reprice(deps)).toBe(false)
  world.now = now
  expect(await reprice(deps)).toBe(true)
  expect(current()).toMatchObject({ stale: '', sold: { topup: { size: 1 } } })
})

test('an empty catalog has nothing to price', async () => {
  const { world, deps } = stocked()
  world.rates = newRates
  expect(await reprice(deps)).toBe(false)
})

test.each(['before', 'while'])(
  'new rates that come %s a list is built are in that list',
  async (when) => {
    const { world, deps, current, refresh } = stocked(inEuro)
    const refreshed = when === 'while' ? refresh() : undefined
    world.rates = newRates
    const repriced = reprice(deps)
    await Promise.all([repriced, refreshed ?? refresh()])
    expect(current().ids.find('NEW')?.id).toBe('NEW')
    expect(current().rates).toBe(newRates)
  },
)

test('prices that could not be worked out are told, and leave the catalog and the next prices as they are', async () => {
  const { world, deps, current } = stocked(inEuro)
  const before = current()
  world.rates = newRates
  const broken = {
    ...deps.pricing,
    get markupBps(): number {
      throw new Error('no memory')
    },
  }
  await expect(reprice({ ...deps, pricing: broken })).rejects.toThrow('no memory')
  expect(current()).toBe(before)
  expect(await reprice(deps)).toBe(true)
})
