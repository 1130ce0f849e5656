import { goods, kinds } from '../../goods/good.ts'
import type { Kind, Offer } from '../../goods/offer.ts'
import type { Docs } from '../../goods/search/docs.ts'
import { type Filters, matching } from '../../goods/search/filters.ts'
import { hintFor } from '../../goods/search/hint.ts'
import {
  highestFaceUsd,
  lowestFaceUsd,
  mostOffered,
  nearestBrands,
  nearestCountries,
} from '../../goods/search/nearest.ts'
import { search } from '../../goods/search/search.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import { type ShopFacets, shopFacets } from './shop-facets.ts'
import type { AmountKind, ShopQuery, Sort } from './shop-query.ts'

/** How many offers a page shows. */
export const shopPageSize = 24

/** What a person is shown for a search. */
export interface ShopAnswer {
  readonly kind: Kind
  readonly total: number
  /** At least 1, even when nothing was found. */
  readonly pages: number
  readonly page: number
  readonly offers: readonly Offer[]
  /** How many offers of each kind the same words and the same country find. */
  readonly kindCounts: Readonly<Record<Kind, number>>
  readonly facets: ShopFacets
  /** What to change, when nothing was found: the one field, and a value that finds something. */
  readonly change?: { readonly field: string; readonly nearest?: string | undefined } | undefined
}

/** Answers a search over what is sold now, with the values it could be narrowed to and their counts. */
export function shopSearch(
  sold: Readonly<Record<Kind, SearchIndex>>,
  query: ShopQuery,
): ShopAnswer {
  const kindCounts = countsOfKinds(sold, query)
  const kind = query.kind ?? kinds.find((each) => kindCounts[each] > 0) ?? 'voucher'
  const index = sold[kind]
  const docs = docsFor(index, kind, query)
  const pages = Math.max(1, Math.ceil(docs.length / shopPageSize))
  const page = query.page ?? 1
  const from = (page - 1) * shopPageSize
  const shown = sorted(index, docs, query.sort).slice(from, from + shopPageSize)
  return {
    kind,
    total: docs.length,
    pages,
    page,
    offers: Array.from(shown, index.offerAt),
    kindCounts,
    facets: shopFacets(index, kind, (without) =>
      docsFor(index, kind, { ...query, ...without }, 'any'),
    ),
    change: docs.length === 0 ? changeFor(index, kind, query) : undefined,
  }
}

/** What a query means to the index. A plan is wanted for where it works, wherever else it does. */
function filtersOf(kind: Kind, query: ShopQuery): Filters {
  const { q, country, brand, category, region, min, max } = query
  return {
    text: q,
    brand,
    subType: category,
    regions: region === undefined ? undefined : [region],
    minUsd: min,
    maxUsd: max,
    ...(kind === 'esim' ? { covers: country === undefined ? [] : [country] } : { country }),
  }
}

/** @param order `match` puts the best match of a text first; `any` is for those who only count */
function docsFor(
  index: SearchIndex,
  kind: Kind,
  query: ShopQuery,
  order: 'match' | 'any' = 'match',
): Docs {
  const filters = filtersOf(kind, query)
  const isRanked = order === 'match' && query.q !== undefined && (query.sort ?? 'match') === 'match'
  const docs = isRanked
    ? search(index, filters, { limit: index.size, offset: 0 }).docs
    : matching(index, filters)
  return query.amount === undefined ? docs : ofAmount(index, docs, query.amount)
}

/** Whether the buyer chooses the value shows in its bounds. */
function ofAmount({ faceUsd: { min, max } }: SearchIndex, docs: Docs, amount: AmountKind): Docs {
  return docs.filter((doc) => (min[doc] as number) < (max[doc] as number) === (amount === 'open'))
}

/** By value in US dollars; what has none that is known stands last. */
function sorted({ faceUsd: { min } }: SearchIndex, docs: Docs, sort: Sort = 'match'): Docs {
  if (sort === 'match') return docs
  const sign = sort === 'low' ? 1 : -1
  const rank = (doc: number) => {
    const value = min[doc] as number
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign * value
  }
  return docs.slice().sort((one, other) => compared(rank(one), rank(other)) || one - other)
}

function compared(one: number, other: number): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function countsOfKinds(
  sold: Readonly<Record<Kind, SearchIndex>>,
  { q, country }: ShopQuery,
): Record<Kind, number> {
  const counts = kinds.map((kind) => [
    kind,
    matching(sold[kind], filtersOf(kind, { q, country })).length,
  ])
  return Object.fromEntries(counts) as Record<Kind, number>
}

/** The field that emptied the result and the nearest value that does not, from offers that exist. */
function changeFor(index: SearchIndex, kind: Kind, query: ShopQuery): ShopAnswer['change'] {
  const { kind: _kind, page: _page, sort: _sort, ...params } = query
  const { parameter, nearest } = hintFor({
    params,
    find: (tried) => docsFor(index, kind, tried, 'any'),
    alternatives: {
      amount: (given: AmountKind) => [given === 'open' ? 'fixed' : 'open'] as const,
      min: (_: number, left: Docs) => highestFaceUsd(index, left),
      max: (_: number, left: Docs) => lowestFaceUsd(index, left),
      category: (_: string, left: Docs) => mostOffered(index.subTypes, left),
      region: (_: string, left: Docs) => mostOffered(index.regions, left),
      country: (given: string, left: Docs) => [
        ...nearestCountries(index, given, left),
        ...mostOffered(index.covered, left),
      ],
      brand: (given: string, left: Docs) => nearestBrands(index, given, left),
      q: (given: string, left: Docs) => nearestBrands(index, given, left),
    },
    noun: goods[kind].plural,
  })
  return parameter === undefined ? undefined : { field: parameter, nearest }
}
