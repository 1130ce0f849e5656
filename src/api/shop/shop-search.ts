import { byKind, goods, kinds } from '../../catalog/good.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { findFor } from '../../catalog/question/find.ts'
import type { Indexes } from '../../catalog/question/reading.ts'
import { brandLexicon } from '../../catalog/search/brand-lexicon.ts'
import type { AmountKind } from '../../catalog/search/face-values.ts'
import type { Filters } from '../../catalog/search/filters.ts'
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
  const kindCounts = countsOfKinds(sold, query)
  const kind = query.kind ?? kinds.find((each) => kindCounts[each] > 0) ?? 'voucher'
  const index = sold[kind]
  const filters = filtersOf(kind, query)
  const page = query.page ?? 1
  const shown = { offset: (page - 1) * shopPageSize, limit: shopPageSize }
  const { total, offers } = index.search(filters, shown, query.sort)
  return {
    kind,
    total,
    pages: Math.max(1, Math.ceil(total / shopPageSize)),
    page,
    offers,
    kindCounts,
    facets: shopFacets(index, kind, filters),
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
  const finds = () => sold[kind].count(filtersOf(kind, understood)) > 0
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

/** How many offers of each kind the words and the country find: what a visitor finds behind the name of a kind. */
function countsOfKinds(sold: Indexes, { q, country }: ShopQuery): Record<Kind, number> {
  return byKind((kind) => sold[kind].count(filtersOf(kind, { q, country })))
}

/** The field that leaves no results, and its nearest value that has some, taken from existing offers. */
function changeFor(index: SearchIndex, kind: Kind, query: ShopQuery): ShopAnswer['change'] {
  const { kind: _kind, page: _page, sort: _sort, ...params } = query
  const { parameter, nearest } = hintFor({
    params,
    index,
    filtersOf: (tried) => filtersOf(kind, tried),
    alternatives: {
      amount: (given: AmountKind) => ({ values: [given === 'open' ? 'fixed' : 'open'] as const }),
      min: (_: number, left: Filters) => highestFaceUsd(index, left),
      max: (_: number, left: Filters) => lowestFaceUsd(index, left),
      category: (_: string, left: Filters) =>
        valuesWith(index, mostOffered(index, 'subType', left), left),
      region: (_: string, left: Filters) =>
        valuesWith(index, mostOffered(index, 'region', left), left),
      country: (given: string, left: Filters) => countriesWith(index, given, left),
      brand: (given: string) => nearestBrands(index, given),
      q: (given: string, _: Filters, finds: (text: string) => boolean) =>
        nearestTexts(index, given, finds),
    },
    noun: goods[kind].plural,
  })
  return parameter === undefined ? undefined : { field: parameter, nearest }
}
