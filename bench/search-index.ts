import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { buildCatalog, type Catalog } from '../src/goods/catalog.ts'
import type { Offer } from '../src/goods/offer.ts'
import type { Filters } from '../src/goods/search/filters.ts'
import { searchWithFacets } from '../src/goods/search/search.ts'
import { type Shelved, searchIndexOf } from '../src/goods/search/search-index.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { madeOffers, madeQueries } from './search-load.ts'

const pricing = { markupBps: 0, rates: () => undefined, now: () => new Date() }
const page = { limit: 20, offset: 0 }
const rounds = 5

/**
 * Searches of topups with total, page and facets, in one process: what each of several sizes of a
 * catalog costs. A figure is the median of several rounds, each over all queries.
 */
export function measureIndex(sizes: readonly number[]): Figure[] {
  return sizes.flatMap((size) => {
    const offers = madeOffers(size)
    const at = performance.now()
    const catalog = buildCatalog({ offers, readAt: new Date(), setAside: {} }, pricing)
    const buildMs = performance.now() - at
    const what = `Search index, ${size} offers`
    return [
      ...answerTimes(what, catalog, madeQueries(offers, 700)),
      figure(`${what}, building it and its catalog`, buildMs, 'ms', 3_000),
      figure(`${what}, memory of the index`, memoryOf(catalog), 'MB', 64),
    ]
  })
}

function answerTimes(what: string, catalog: Catalog, queries: readonly Filters[]): Figure[] {
  const measured = Array.from({ length: rounds + 1 }, () =>
    queries.map((filters) => {
      const at = performance.now()
      searchWithFacets(catalog.index.topup, filters, page)
      return (performance.now() - at) * 1_000
    }),
  ).slice(1)
  const median = (share: number) =>
    quantile(
      measured.map((times) => quantile(times, share)),
      0.5,
    )
  return [
    figure(`${what}, mixed queries with facets, p50`, median(0.5), 'µs', 10),
    figure(`${what}, mixed queries with facets, p99`, median(0.99), 'µs', 500),
  ]
}

/** What a second index of the same offers takes; the offers themselves are not counted. */
function memoryOf(catalog: Catalog): number {
  const shelved = catalog.index.topup.offers.map((offer: Offer): Shelved => ({ offer, sold: true }))
  const before = used()
  const index = searchIndexOf(shelved, undefined)
  const taken = used() - before
  return index.all.length === shelved.length ? taken / 2 ** 20 : Number.NaN
}

/** Memory is told apart from garbage only right after the garbage was collected. */
function used(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
