import type { Catalog } from '../src/goods/catalog.ts'
import { packOffers } from '../src/goods/offer-records.ts'
import type { Filters } from '../src/goods/search/filters.ts'
import { searchWithFacets } from '../src/goods/search/search.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { catalogOf } from './made-catalog.ts'
import { madeOffers, madeQueries } from './search-load.ts'

const page = { limit: 20, offset: 0 }
const rounds = 5

/**
 * Searches of topups with total, page and facets, in one process: what each of several sizes of a
 * catalog costs. A figure is the median of several rounds, each over all queries.
 */
export function measureIndex(sizes: readonly number[]): Figure[] {
  return sizes.flatMap((size) => {
    const offers = madeOffers(size)
    const records = packOffers(offers)
    const at = performance.now()
    const catalog = catalogOf(records)
    const buildMs = performance.now() - at
    const what = `Search index, ${size} offers`
    return [
      ...answerTimes(what, catalog, madeQueries(offers, 700)),
      figure(`${what}, building it and its catalog`, buildMs, 'ms', 3_000),
    ]
  })
}

function answerTimes(what: string, catalog: Catalog, queries: readonly Filters[]): Figure[] {
  const measured = Array.from({ length: rounds + 1 }, () =>
    queries.map((filters) => {
      const at = performance.now()
      searchWithFacets(catalog.sold.topup, filters, page)
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
