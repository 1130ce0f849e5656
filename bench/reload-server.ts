import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { createCatalogWorker } from '../src/adapters/processes/catalog-worker.ts'
import { createLiveCatalog, type LiveCatalog } from '../src/catalog/catalog.ts'
import type { RateTable, SnapshotStore } from '../src/catalog/ports.ts'
import { type RefreshDeps, refreshCatalog, reprice } from '../src/catalog/refresh.ts'
import type { Filters } from '../src/catalog/search/filters.ts'
import { searchWithFacets } from '../src/catalog/search/search.ts'
import { inTurn } from '../src/lib/in-turn.ts'
import { serveParent } from './child.ts'
import { quantile } from './figures.ts'
import { siteUrl } from './made-catalog.ts'
import { madeQueries } from './search-load.ts'

/*
 * A process that answers searches at a steady pace while its catalog is rebuilt. It reports how long each
 * search took, and how long after its due time it was answered: if something blocks the process, the
 * searches that wait behind it are late.
 */

export interface ReloadInput {
  readonly supplierUrl: string
  readonly apiKey: string
  readonly rounds: number
}

/** The times of one stretch of searches. */
export interface Stretch {
  /** The time of a search itself; microseconds. */
  readonly p99: number
  /** From the due time of a search to its answer; microseconds, also of the longest. */
  readonly dueP99: number
  readonly longest: number
  readonly seconds: number
}

export type Doing = 'nothing' | 'repricing' | 'refreshing'

export interface ReloadTold {
  readonly offers: number
  readonly rounds: readonly Readonly<Record<Doing, Stretch>>[]
  /** Resident memory in MiB: with one catalog at rest, and the maximum over all stretches. */
  readonly megabytes: { readonly atRest: number; readonly most: number }
}

/** 2,000 searches a second, which do not keep the process busy. */
const paceMs = 0.5
const quietMs = 3_000
/** V8 returns free memory to the system only after some seconds. */
const restMs = 12_000
const page = { limit: 20, offset: 0 }

async function measure({ supplierUrl, apiKey, rounds }: ReloadInput): Promise<ReloadTold> {
  const world = { rates: ratesOf(0.9) }
  const liveCatalog = createLiveCatalog()
  const deps = depsFor({ supplierUrl, apiKey }, liveCatalog, () => world.rates)
  const refreshNow = async () => {
    const { outcome } = await refreshCatalog(deps)
    if (outcome !== 'loaded') throw new Error(`The list was not loaded: ${outcome}`)
  }
  await refreshNow()
  const queries = queriesOf(liveCatalog)
  const memory = watchMemory()
  const stretch = (until: Promise<unknown>) => answerUntil(until, { liveCatalog, queries, memory })
  await stretch(delay(quietMs))
  await delay(restMs)
  const atRest = memory.now()
  const told: Record<Doing, Stretch>[] = []
  for (let round = 0; round < rounds; round += 1) {
    const nothing = await stretch(delay(quietMs))
    world.rates = ratesOf(0.9 + round / 100)
    const repricing = await stretch(reprice(deps))
    told.push({ nothing, repricing, refreshing: await stretch(refreshNow()) })
  }
  const offers = liveCatalog.current().size
  return { offers, rounds: told, megabytes: { atRest, most: memory.most() } }
}

function ratesOf(eur: number): RateTable {
  return { asOf: new Date(), source: 'bench', perUsd: { EUR: eur } }
}

function depsFor(
  { supplierUrl, apiKey }: Omit<ReloadInput, 'rounds'>,
  liveCatalog: LiveCatalog,
  rates: () => RateTable,
): RefreshDeps {
  const now = () => new Date()
  return {
    catalogWorker: createCatalogWorker({
      suppliers: { zendit: { url: supplierUrl, key: apiKey } },
      siteUrl,
      environment: { atStart: process.env, told: {} },
    }),
    snapshots: keepsNothing,
    liveCatalog,
    pricing: { markupBps: 0, rates, readAt: () => now(), now },
    inTurn: inTurn(),
    now,
    signal: new AbortController().signal,
  }
}

const keepsNothing: SnapshotStore = { save: async () => undefined, load: async () => undefined }

/** Searches for values of offers in the catalog. */
function queriesOf(liveCatalog: LiveCatalog): Filters[] {
  const { topup } = liveCatalog.current().sold
  const step = Math.max(1, Math.floor(topup.size / 1_000))
  const docs = topup.all.filter((doc) => doc % step === 0)
  return madeQueries(Array.from(docs, topup.offerAt), 700)
}

interface Load {
  readonly liveCatalog: LiveCatalog
  readonly queries: readonly Filters[]
  readonly memory: ReturnType<typeof watchMemory>
}

async function answerUntil(until: Promise<unknown>, load: Load): Promise<Stretch> {
  const took: number[] = []
  const times: number[] = []
  let isOver = false
  const over = until.finally(() => {
    isOver = true
  })
  const begun = performance.now()
  for (let due = begun; !isOver; due += paceMs) {
    while (performance.now() < due) await nextTurn()
    const query = load.queries[times.length % load.queries.length] ?? {}
    const begunAt = performance.now()
    searchWithFacets(load.liveCatalog.current().sold.topup, query, page)
    const endedAt = performance.now()
    took.push((endedAt - begunAt) * 1_000)
    times.push((endedAt - due) * 1_000)
    if (times.length % 100 === 0) load.memory.look()
  }
  await over
  const seconds = (performance.now() - begun) / 1_000
  return {
    p99: quantile(took, 0.99),
    dueP99: quantile(times, 0.99),
    longest: times.reduce((most, one) => Math.max(most, one), 0),
    seconds,
  }
}

function watchMemory() {
  const now = () => process.memoryUsage.rss() / 2 ** 20
  let most = 0
  return {
    now,
    look() {
      most = Math.max(most, now())
    },
    most: () => most,
  }
}

await serveParent<ReloadInput>(async (input) => ({
  told: await measure(input),
  stop: async () => undefined,
}))
