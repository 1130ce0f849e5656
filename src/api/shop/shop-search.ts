import { goods, kinds } from '../../catalog/good.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { findFor } from '../../catalog/question/find.ts'
import type { Indexes } from '../../catalog/question/reading.ts'
import { brandLexicon } from '../../catalog/search/brand-lexicon.ts'
import type { Docs } from '../../catalog/search/docs.ts'
import type { AmountKind } from '../../catalog/search/face-values.ts'
import { facetCounts } from '../../catalog/search/facet-counts.ts'
import { type Filters, matching, met, type Query, queryOf } from '../../catalog/search/filters.ts'
import { hintFor } from '../../catalog/search/hint.ts'
import {
  countriesWith,
  highestFaceUsd,
  lowestFaceUsd,
  mostOffered,
  nearestBrands,
  nearestTexts,
  valuesWith,
} from '../../catalog/search/nearest.ts'
import { pageOf } from '../../catalog/search/search.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { type ShopFacets, shopFacets } from './shop-facets.ts'
import type { ShopQuery } from './shop-query.ts'

/** How many offers a page shows. */
export const shopPageSize = 24

/** The results of a search for a page. */
export interface ShopAnswer {
  readonly kind: Kind
  readonly total: number
  /** At least 1, even if nothing was found. */
  readonly pages: number
  readonly page: number
  readonly offers: readonly Offer[]
  /** How many offers of each kind the same words and the same country find. */
  readonly kindCounts: Readonly<Record<Kind, number>>
  readonly facets: ShopFacets
  /** If nothing was found: the field to change, and the nearest value of it that finds something. */
  readonly change?: { readonly field: string; readonly nearest?: string | undefined } | undefined
  /** If nothing was found: the search that the words ask for if they are read as a sentence. It finds something. */
  readonly understood?: ShopQuery | undefined
}

/** Answers a search over the offers that are sold now, with facets and their counts. */
export function shopSearch(sold: Indexes, query: ShopQuery): ShopAnswer {
  const asked = queriesOf(sold, query)
  const kindCounts = countsOfKinds(sold, asked)
  const kind = query.kind ?? kinds.find((each) => kindCounts[each] > 0) ?? 'voucher'
  const index = sold[kind]
  const found = met(index, asked[kind].clauses)
  const { total } = found
  const page = query.page ?? 1
  const facets = shopFacets(index, kind, facetCounts(index, asked[kind], found), query.brand)
  // Last, because making the page consumes the found set.
  const { docs } = pageOf(index, asked[kind], {
    found,
    page: { offset: (page - 1) * shopPageSize, limit: shopPageSize },
    order: query.sort,
  })
  return {
    kind,
    total,
    pages: Math.max(1, Math.ceil(total / shopPageSize)),
    page,
    offers: index.offersAt(docs),
    kindCounts,
    facets,
    change: total === 0 ? changeFor(index, kind, query) : undefined,
    understood: total === 0 ? understoodIn(sold, query) : undefined,
  }
}

/** The kind, country and brand that a sentence names; undefined if it names neither country nor brand. */
function understoodIn(sold: Indexes, { q, country }: ShopQuery): ShopQuery | undefined {
  if (q === undefined) return undefined
  const found = findFor(sold, { query: q, country }, undefined, 1)
  const [first] = found.kinds
  const { countries, reading } = found.asked
  if (first === undefined || reading.category !== undefined) return undefined
  const { kind } = first
  const [brand] = reading.brands?.[kind] ?? []
  const understood = {
    kind,
    country: countries[0],
    brand: brand === undefined ? undefined : brandLexicon(sold[kind]).nameOf(brand),
  }
  const isNamed = (understood.country ?? understood.brand) !== undefined
  const finds = () => matching(sold[kind], filtersOf(kind, understood)).length > 0
  return isNamed && finds() ? understood : undefined
}

/** The query as filters of an index. For eSIM plans, the country is one that the plan must cover. */
function filtersOf(kind: Kind, query: ShopQuery): Filters {
  const { q, country, brand, category, region, min, max, amount } = query
  return {
    text: q,
    brand,
    subType: category,
    regions: region === undefined ? undefined : [region],
    minUsd: min,
    maxUsd: max,
    amount,
    ...(goods[kind].isByCoverage
      ? { covers: country === undefined ? [] : [country] }
      : { country }),
  }
}

/** The query for each kind: whole for kinds that may be the answer, else only the fields that are counted there. */
function queriesOf(
  sold: Readonly<Record<Kind, SearchIndex>>,
  query: ShopQuery,
): Readonly<Record<Kind, Query>> {
  const { q, country } = query
  const queries = kinds.map((kind) => {
    const isWhole = query.kind === undefined || query.kind === kind
    return [kind, queryOf(sold[kind], filtersOf(kind, isWhole ? query : { q, country }))]
  })
  return Object.fromEntries(queries) as Record<Kind, Query>
}

/** The filters that count for the results of each kind: the words and the country. */
const ofKinds: readonly (keyof Filters)[] = ['text', 'country', 'covers']

function countsOfKinds(
  sold: Readonly<Record<Kind, SearchIndex>>,
  asked: Readonly<Record<Kind, Query>>,
): Record<Kind, number> {
  const counts = kinds.map((kind) => {
    const clauses = asked[kind].clauses.filter(({ own }) => ofKinds.includes(own))
    return [kind, met(sold[kind], clauses).total]
  })
  return Object.fromEntries(counts) as Record<Kind, number>
}

/** The field that leaves no results, and its nearest value that has some, taken from existing offers. */
function changeFor(index: SearchIndex, kind: Kind, query: ShopQuery): ShopAnswer['change'] {
  const { kind: _kind, page: _page, sort: _sort, ...params } = query
  const { parameter, nearest } = hintFor({
    params,
    find: (tried) => matching(index, filtersOf(kind, tried)),
    alternatives: {
      amount: (given: AmountKind) => ({ values: [given === 'open' ? 'fixed' : 'open'] as const }),
      min: (_: number, left: Docs) => highestFaceUsd(index, left),
      max: (_: number, left: Docs) => lowestFaceUsd(index, left),
      category: (_: string, left: Docs) =>
        valuesWith(index, mostOffered(index.subTypes, left), left),
      region: (_: string, left: Docs) => valuesWith(index, mostOffered(index.regions, left), left),
      country: (given: string, left: Docs) => countriesWith(index, given, left),
      brand: (given: string) => nearestBrands(index, given),
      q: (given: string, _: Docs, finds: (text: string) => boolean) =>
        nearestTexts(index, given, finds),
    },
    noun: goods[kind].plural,
  })
  return parameter === undefined ? undefined : { field: parameter, nearest }
}
