import type { Offer } from '../catalog/offer.ts'
import type { ReadSearch } from '../catalog/search/offer-search.ts'
import type { SearchIndex } from '../catalog/search/search-index.ts'
import { type Published, type Query, queryOf } from './query.ts'

/** A search as requested by a caller. */
export interface SearchRequest {
  readonly index: SearchIndex
  readonly asked: ReadSearch
  readonly view: (offer: Offer) => Published
  /** Whether the answer contains the facets. */
  readonly hasFacets?: boolean
}

/** The request of a search. Its key needs neither the kind, which is in the route, nor the catalog. */
export function searchQuery(request: SearchRequest): Query {
  const { params, page } = request.asked
  return queryOf({ ...params, ...page }, () => searchAnswer(request))
}

/** One page of offers, or a hint why there are none. */
function searchAnswer({ index, asked, view, hasFacets }: SearchRequest): Published {
  const { page, filters } = asked
  const { total, offers } = index.search(filters, page)
  const answer = { total, ...page, items: offers.map(view) }
  const hint = total === 0 ? { hint: asked.hint() } : {}
  if (!hasFacets) return { ...answer, ...hint }
  const { brandTotal, ...facets } = index.facets(filters)
  return { ...answer, ...hint, facets, facetTotals: { brands: brandTotal } }
}
