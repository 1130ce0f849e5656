import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestSupplier } from '../../sandbox/supplier/client.fixture.ts'
import type { Supplier } from '../../sandbox/supplier/server.ts'
import { sourcesOf } from '../../test/fixtures/catalog.ts'
import { fixed, topup } from '../../test/fixtures/offers.ts'
import type { Listing, Snapshot, SnapshotStore } from '../catalog/ports.ts'
import { createHealth } from '../health/health.ts'
import { startCatalog } from './catalog-refresh.ts'

/** Only its exchange rates are used here. */
let rates: Supplier
let stop = new AbortController()

beforeAll(async () => {
  rates = await startTestSupplier({ offers: 300 })
})
afterAll(() => rates.stop())
afterEach(() => {
  stop.abort()
  stop = new AbortController()
})

const inEuro = topup('EURO', { price: fixed(1000, 'EUR') })
const last: Snapshot = { offers: [inEuro], readAt: new Date(), rejected: {} }

function memory(load: SnapshotStore['load']): SnapshotStore & { readonly kept: Snapshot[] } {
  const kept: Snapshot[] = []
  return { kept, load, save: async (snapshot) => void kept.push(snapshot) }
}

interface World {
  readonly list: () => Promise<Listing>
  readonly snapshots: SnapshotStore
  readonly ratesUrl?: string
}

function start({ list, snapshots, ratesUrl = `${rates.url}/rates/v1/latest` }: World) {
  const logged: Record<string, unknown>[] = []
  const now = () => new Date()
  const deps = {
    config: { ratesUrl, markupBps: 0, site: { acceptsCrypto: [] } },
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    now,
    signal: stop.signal,
    health: createHealth(now),
    failed: (what: string, error: unknown) => {
      throw new Error(what, { cause: error })
    },
  }
  return { logged, started: startCatalog(deps, { snapshots, sellingRules }, sourcesOf(list)) }
}

const sellingRules = async () => []
const never = () => new Promise<never>(() => {})

test('the last good list serves at once, priced with the rates of now', async () => {
  const { started } = start({ list: never, snapshots: memory(async () => last) })
  const { liveCatalog, pricing } = await started
  expect(pricing.rates()?.perUsd).toHaveProperty('EUR')
  expect(liveCatalog.current()).toMatchObject({ offers: [inEuro], readAt: last.readAt })
  expect(liveCatalog.current().sold.topup.size).toBe(1)
})

test('without one the store waits for its first list, and stores it', async () => {
  const { promise, resolve } = Promise.withResolvers<Listing>()
  const asked = Promise.withResolvers<void>()
  const list = () => {
    asked.resolve()
    return promise
  }
  const snapshots = memory(async () => undefined)
  const { started, logged } = start({ list, snapshots })
  let hasStarted = false
  const followed = started.then((running) => {
    hasStarted = true
    return running
  })
  await asked.promise
  await new Promise((go) => setImmediate(go))
  expect(hasStarted).toBe(false)
  resolve({ offers: [inEuro, topup('T')], rejected: {} })
  const { liveCatalog } = await followed
  expect(liveCatalog.current().offers.length).toBe(2)
  // Stored after it is on sale.
  const loaded = expect.objectContaining({ msg: 'catalog', outcome: 'loaded' })
  await expect.poll(() => logged).toContainEqual(loaded)
  expect(snapshots.kept).toHaveLength(1)
})

test('a first list that cannot be read ends the waiting too, with nothing on sale', async () => {
  const list = () => Promise.reject(new Error('down'))
  const { started, logged } = start({ list, snapshots: memory(async () => undefined) })
  expect((await started).liveCatalog.current().offers.length).toBe(0)
  expect(logged).toContainEqual(expect.objectContaining({ outcome: 'failed', reason: 'down' }))
})

test('a last list that cannot be read is told, and the first one is waited for', async () => {
  const list = async () => ({ offers: [topup('T')], rejected: {} })
  const snapshots = memory(() => Promise.reject(new Error('damaged')))
  const { started, logged } = start({ list, snapshots })
  expect((await started).liveCatalog.current().offers.length).toBe(1)
  expect(logged).toContainEqual(
    expect.objectContaining({ msg: 'last catalog not readable', reason: 'damaged' }),
  )
})

test('without rates what is priced in dollars is sold, and all of it ends when it is stopped', async () => {
  const list = async () => ({ offers: [inEuro, topup('T')], rejected: {} })
  const snapshots = memory(async () => undefined)
  const { started } = start({ list, snapshots, ratesUrl: `${rates.url}/nowhere` })
  const { liveCatalog, work } = await started
  const { listed, sold, stale } = liveCatalog.current()
  expect([listed.topup.size, sold.topup.size, stale]).toEqual([2, 1, ''])
  stop.abort()
  await Promise.all(work)
})
