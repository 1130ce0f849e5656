import { describe, expect, it, vi } from 'vitest'
import { sourcesOf } from '../../test/fixtures/catalog.ts'
import type { OfferId } from '../lib/ids.ts'
import { inTurn } from '../lib/scheduling.ts'
import { createLiveCatalog } from './catalog.ts'
import type { TopupOffer } from './kinds/topup.ts'
import type { Offer } from './offer.ts'
import type { Listing, Snapshot, SnapshotStore } from './ports.ts'
import type { Pricing } from './pricing.ts'
import { type RefreshDeps, refreshCatalog, reprice, serveLast, startRefreshing } from './refresh.ts'

const now = new Date('2026-10-02T12:00:00Z')
const pricing: Pricing = {
  markupBps: 0,
  rates: () => undefined,
  readAt: () => now,
  now: () => now,
}

function offer(id: string): TopupOffer {
  return {
    kind: 'topup',
    id: id as OfferId,
    source: { supplier: 'zendit', product: id },
    brand: 'CLARO_GT',
    brandName: 'Claro',
    country: 'GT',
    regions: ['Central America'],
    subTypes: ['voice'],
    productType: 'TOPUP',
    price: { type: 'FIXED', currency: 'USD', divisor: 100, fixed: 1000 },
    cost: { currency: 'USD', divisor: 100, min: 1, max: 1 },
    allowance: {},
  }
}

function listingOf(count: number): Listing {
  const offers = Array.from({ length: count }, (_, index) => offer(`O_${index}`))
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

function depsFor(list: () => Promise<Listing>, snapshots: SnapshotStore = memory()): RefreshDeps {
  const { signal } = new AbortController()
  return {
    sources: sourcesOf(list),
    inTurn: inTurn(),
    snapshots,
    liveCatalog: createLiveCatalog(),
    pricing,
    now: () => now,
    signal,
  }
}

it('puts the whole list on sale and keeps it for the next start', async () => {
  const snapshots = memory()
  const deps = depsFor(async () => listingOf(10), snapshots)
  expect(await refreshCatalog(deps)).toEqual({
    outcome: 'loaded',
    offers: 10,
    rejected: { disabled: 3 },
    durationMs: 0,
  })
  expect(deps.liveCatalog.current().offers.length).toBe(10)
  expect(deps.liveCatalog.current().rejected).toEqual({ disabled: 3 })
  expect(snapshots.kept).toEqual([{ ...listingOf(10), readAt: now }])

  const restarted = depsFor(() => Promise.reject(new Error('down')), snapshots)
  expect(await serveLast(restarted)).toEqual({ outcome: 'served', offers: 10, readAt: now })
  expect(restarted.liveCatalog.current().offers.length).toBe(10)
  expect(restarted.liveCatalog.current().offers).toEqual(deps.liveCatalog.current().offers)
})

it('does not believe a list of under half of the last one', async () => {
  const snapshots = memory()
  const counts = [100, 49, 0, 50]
  const deps = depsFor(async () => listingOf(counts.shift() ?? 0), snapshots)
  await refreshCatalog(deps)
  expect(await refreshCatalog(deps)).toMatchObject({
    outcome: 'refused',
    offers: 49,
    rejected: { disabled: 3 },
    reason: 'The supplier lists 49 topup offers after 100.',
  })
  expect(await refreshCatalog(deps)).toMatchObject({ outcome: 'refused', offers: 0 })
  expect(deps.liveCatalog.current().offers.length).toBe(100)
  expect(snapshots.kept).toHaveLength(1)
  expect(await refreshCatalog(deps)).toMatchObject({ outcome: 'loaded', offers: 50 })
})

const plan = (id: string): Offer => ({ ...offer(id), kind: 'esim', coverage: [] })
const mixed = (topups: number, esims: number): Listing => ({
  offers: [
    ...listingOf(topups).offers,
    ...Array.from({ length: esims }, (_, at) => plan(`E_${at}`)),
  ],
  rejected: {},
})

it('holds a kind that nearly vanishes from a list, and takes the others', async () => {
  const snapshots = memory()
  const lists = [mixed(40, 60), mixed(90, 0), mixed(91, 20), mixed(92, 50)]
  const world = { now }
  const deps = {
    ...depsFor(async () => lists.shift() as Listing, snapshots),
    now: () => world.now,
  }
  const sizes = () => {
    const { listed } = deps.liveCatalog.current()
    return [listed.topup.size, listed.esim.size]
  }
  await refreshCatalog(deps)
  world.now = new Date(now.getTime() + 3_600_000)
  expect(await refreshCatalog(deps)).toMatchObject({
    outcome: 'loaded',
    offers: 90,
    held: { 'zendit/esim': 'The supplier lists 0 esim offers after 60.' },
  })
  expect(sizes()).toEqual([90, 60])
  expect(deps.liveCatalog.current()).toMatchObject({
    readAt: world.now,
    held: { 'zendit/esim': now },
  })
  expect(snapshots.kept.at(-1)).toMatchObject({ held: { 'zendit/esim': now } })
  expect(await refreshCatalog(deps)).toMatchObject({ held: { 'zendit/esim': expect.any(String) } })
  expect(sizes()).toEqual([91, 60])
  expect(deps.liveCatalog.current().held).toEqual({ 'zendit/esim': now })
  const last = await refreshCatalog(deps)
  expect(last).toMatchObject({ outcome: 'loaded', offers: 142 })
  expect(last).not.toHaveProperty('held')
  expect(sizes()).toEqual([92, 50])
})

it('believes that a kind is gone once what it held is too old to sell', async () => {
  const lists = [mixed(40, 60), mixed(40, 0), mixed(40, 0)]
  const world = { now }
  const deps = {
    ...depsFor(async () => lists.shift() as Listing),
    now: () => world.now,
  }
  await refreshCatalog(deps)
  world.now = new Date(now.getTime() + 24 * 3_600_000)
  expect(await refreshCatalog(deps)).toHaveProperty('held')
  world.now = new Date(world.now.getTime() + 1)
  expect(await refreshCatalog(deps)).not.toHaveProperty('held')
  expect(deps.liveCatalog.current().listed.esim.size).toBe(0)
})

it('does not believe an empty list on a first start either', async () => {
  const deps = depsFor(async () => listingOf(0))
  expect(await refreshCatalog(deps)).toMatchObject({ outcome: 'refused' })
})

it('changes nothing on sale when the list cannot be read', async () => {
  const list = vi.fn<() => Promise<Listing>>().mockResolvedValueOnce(listingOf(4))
  const deps = depsFor(list.mockRejectedValue(new Error('down')))
  await refreshCatalog(deps)
  const before = deps.liveCatalog.current()
  expect(await refreshCatalog(deps)).toMatchObject({ outcome: 'failed', reason: 'down' })
  expect(deps.liveCatalog.current()).toBe(before)
})

it('sells a list that could not be kept, and says so', async () => {
  const deps = depsFor(async () => listingOf(4), memory(new Error('disk full')))
  expect(await refreshCatalog(deps)).toMatchObject({ outcome: 'loaded', notKept: 'disk full' })
  expect(deps.liveCatalog.current().offers.length).toBe(4)
})

it('starts without a last list, and without a database that gives it', async () => {
  const never = () => Promise.reject(new Error('not asked'))
  expect(await serveLast(depsFor(never))).toEqual({ outcome: 'none' })
  const broken = depsFor(never, memory(new Error('damaged')))
  expect(await serveLast(broken)).toEqual({ outcome: 'failed', reason: 'damaged' })
  expect(broken.liveCatalog.current().offers.length).toBe(0)
})

it('refreshes the catalog every quarter of an hour, and sooner after a bad load', async () => {
  vi.useFakeTimers()
  const stop = new AbortController()
  const list = vi
    .fn<() => Promise<Listing>>()
    .mockResolvedValueOnce(listingOf(10))
    .mockRejectedValueOnce(new Error('down'))
    .mockResolvedValueOnce(listingOf(1))
    .mockResolvedValue(listingOf(12))
  const outcomes: string[] = []
  const deps = { ...depsFor(list), signal: stop.signal }
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

it('ends a load that is under way when it is stopped, and reports nothing of it', async () => {
  const stop = new AbortController()
  const list = (signal: AbortSignal) =>
    new Promise<Listing>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const deps = {
    ...depsFor(async () => listingOf(1)),
    sources: sourcesOf(list),
    signal: stop.signal,
  }
  const report = vi.fn()
  const ended = startRefreshing(deps, report)
  stop.abort()
  await ended
  expect(report).not.toHaveBeenCalled()
})

it('prices what is on sale again when the rates change', async () => {
  let perUsd: Record<string, number> | undefined
  const rates = () => perUsd && { asOf: now, source: 'test', perUsd }
  const inEuro: TopupOffer = {
    ...offer('EURO'),
    price: { type: 'FIXED', currency: 'EUR', divisor: 100, fixed: 1000 },
  }
  const deps = {
    ...depsFor(async () => ({ offers: [inEuro], rejected: {} })),
    pricing: { ...pricing, rates },
  }
  await refreshCatalog(deps)
  const before = deps.liveCatalog.current()
  perUsd = { EUR: 0.86 }
  await reprice(deps)
  const after = deps.liveCatalog.current()
  expect([before.sold.topup.size, after.sold.topup.size]).toEqual([0, 1])
  expect(after.readAt).toEqual(before.readAt)
  expect(after.ids.find('EURO')).toEqual(inEuro)
})

it('keeps what has not changed since the last reading, and the list as a whole if nothing has', async () => {
  const snapshots = memory()
  let price = 1000
  const deps = depsFor(async () => {
    const { offers, rejected } = structuredClone(listingOf(4))
    const [first, ...rest] = offers as TopupOffer[]
    const changed = { ...first, price: { ...first?.price, fixed: price } } as TopupOffer
    return { offers: [changed, ...rest], rejected }
  }, snapshots)
  const reading = () => {
    const [source] = deps.sources.values()
    const sources = new Map([
      [
        'zendit',
        {
          list: async (signal: AbortSignal, keep = (one: Offer) => one) => {
            const listing = await source?.list(signal)
            return { rejected: {}, offers: (listing?.offers ?? []).map(keep) }
          },
        },
      ],
    ])
    return refreshCatalog({ ...deps, sources })
  }
  await reading()
  const before = deps.liveCatalog.current()
  await reading()
  expect(deps.liveCatalog.current().offers).toBe(before.offers)
  expect(deps.liveCatalog.current().kinds.topup.stock).toBe(before.kinds.topup.stock)
  price = 2000
  await reading()
  const { offers } = deps.liveCatalog.current()
  expect(offers.map((one, at) => one === before.offers[at])).toEqual([false, true, true, true])
  expect(snapshots.kept.map((one) => one.offers[0]?.price)).toMatchObject([
    { fixed: 1000 },
    { fixed: 1000 },
    { fixed: 2000 },
  ])
})

describe('the lists of two suppliers', () => {
  const ofAcme = (one: Offer): Offer => ({ ...one, source: { supplier: 'acme', product: one.id } })
  const acme = (count: number): Listing => {
    const offers = Array.from({ length: count }, (_, at) => ofAcme(offer(`ACME_${at}`)))
    return { offers, rejected: { disabled: 1 } }
  }

  function shopOfTwo() {
    const world = { now, first: listingOf(10), second: acme(4), isAway: false }
    const deps: RefreshDeps = {
      ...depsFor(async () => world.first),
      sources: sourcesOf(
        async () => world.first,
        async () => (world.isAway ? Promise.reject(new Error('away')) : world.second),
      ),
      now: () => world.now,
    }
    return { world, deps, catalog: deps.liveCatalog.current }
  }

  it('are on sale as one, each offer with the supplier that lists it', async () => {
    const { world, deps, catalog } = shopOfTwo()
    const both = listingOf(10).offers[3] as Offer
    const again = { ...both, id: both.id.toLowerCase() as Offer['id'] }
    world.second = { ...acme(4), offers: [...acme(4).offers, ofAcme(both), ofAcme(again)] }
    expect(await refreshCatalog(deps)).toMatchObject({ outcome: 'loaded', offers: 16 })
    expect(catalog().sizes).toEqual({ 'zendit/topup': 10, 'acme/topup': 4 })
    expect(catalog().rejected).toEqual({ disabled: 4, duplicate_offer_id: 2 })
    expect(catalog().ids.find('ACME_2')?.source).toEqual({ supplier: 'acme', product: 'ACME_2' })
    expect(catalog().ids.find(both.id)?.source.supplier).toBe('zendit')
  })

  it('are read each by itself: what one lists stays while it is away, and the other goes on', async () => {
    const { world, deps, catalog } = shopOfTwo()
    await refreshCatalog(deps)
    Object.assign(world, { isAway: true, first: listingOf(12), now: new Date(now.getTime() + 1) })
    expect(await refreshCatalog(deps)).toMatchObject({
      outcome: 'loaded',
      held: { 'acme/topup': 'away' },
      failed: ['acme'],
    })
    expect(catalog().sizes).toEqual({ 'zendit/topup': 12, 'acme/topup': 4 })
    expect(catalog()).toMatchObject({ readAt: world.now, held: { 'acme/topup': now } })
    Object.assign(world, { isAway: false, second: acme(5) })
    await refreshCatalog(deps)
    expect([catalog().sizes['acme/topup'], catalog().held]).toEqual([5, undefined])
  })

  it('are doubted each by itself', async () => {
    const { world, deps, catalog } = shopOfTwo()
    await refreshCatalog(deps)
    Object.assign(world, { first: listingOf(11), second: acme(1) })
    expect(await refreshCatalog(deps)).toMatchObject({
      held: { 'acme/topup': 'The supplier lists 1 topup offers after 4.' },
    })
    expect(catalog().sizes).toEqual({ 'zendit/topup': 11, 'acme/topup': 4 })
  })
})
