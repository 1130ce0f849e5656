import type { Catalog } from '../src/catalog/catalog.ts'
import { packOffers } from '../src/catalog/offer-records.ts'
import type { Filters } from '../src/catalog/search/filters.ts'
import { searchWithFacets } from '../src/catalog/search/search.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { catalogOf } from './made-catalog.ts'
import { madeOffers, madeQueries } from './search-load.ts'

const page = { limit: 20, offset: 0 }
const warmUps = 5
const rounds = 9

/**
 * Searches of topups with total, page and facets, in one process, for several sizes of the catalog. A time
 * is the median of several rounds, each over all queries.
 */
export function measureIndex(sizes: readonly number[]): Figure[] {
  const [first, ...others] = sizes.flatMap((size) => {
    const offers = madeOffers(size)
    const records = packOffers(offers)
    const at = performance.now()
    const catalog = catalogOf(records)
    const buildMs = performance.now() - at
    const what = `Search index, ${size} offers`
    return [
      ...answerTimes(what, catalog, madeQueries(offers, 700)),
      figure(`${what}, building it and its catalog`, buildMs, 'ms', 3_000),
      ...bytesOf(what, catalog),
    ]
  })
  return [{ ...(first as Figure), note }, ...others]
}

function answerTimes(what: string, catalog: Catalog, queries: readonly Filters[]): Figure[] {
  const measured = Array.from({ length: warmUps + rounds }, () =>
    queries.map((filters) => {
      const at = performance.now()
      searchWithFacets(catalog.sold.topup, filters, page)
      return (performance.now() - at) * 1_000
    }),
  ).slice(warmUps)
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

/** Counts the bytes of the arrays that a search reads, and of the JSON that a page is copied from. */
function bytesOf(what: string, { sold, records }: Catalog): Figure[] {
  const { ready, ...index } = sold.topup
  const parts = [
    [`${what}, its arrays`, arrayBytesIn(index), 64],
    [`${what}, the finished JSON of its offers`, arrayBytesIn(ready), undefined],
    [`${what}, the offers themselves, compressed`, records.bytes.length, undefined],
  ] as const
  return parts.map(([name, bytes, most]) => figure(name, bytes / 2 ** 20, 'MB', most))
}

function arrayBytesIn(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0
  seen.add(value)
  if (ArrayBuffer.isView(value)) {
    // Views of the same buffer count once.
    const isCounted = seen.has(value.buffer)
    seen.add(value.buffer)
    return isCounted ? 0 : value.buffer.byteLength
  }
  return Object.values(value).reduce((sum: number, each) => sum + arrayBytesIn(each, seen), 0)
}

const note =
  'The queries are those of seven forms in turn (a country; a country and a sub-type; a brand; a region and a sub-type; the beginning of a name as text; that and a country; nothing), with values that offers have, so few of them are small. No answer is kept, but what one value or a pair of values finds is listed once for a catalog, with its facets, in the rounds that warm it up.'
