import type { Offer } from '../offer.ts'
import type { Docs } from './docs.ts'
import { type Facets, facetsAmong } from './facets.ts'
import { type Filters, met, type Query, queryOf } from './filters.ts'
import type { SearchIndex } from './search-index.ts'
import { byMatch } from './text.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** One page of what was found, out of `total`. */
export interface Found {
  readonly total: number
  readonly offers: readonly Offer[]
}

/** Finds offers and gives one page of them. The order is total, so pages neither repeat nor skip. */
export function search(index: SearchIndex, filters: Filters, page: Page): Found {
  const query = queryOf(index, filters)
  return pageOf(index, query, met(index, query.clauses).docs, page)
}

/** Likewise, with the values to switch to. Both come from one look at the index. */
export function searchWithFacets(
  index: SearchIndex,
  filters: Filters,
  page: Page,
): Found & { readonly facets: Facets } {
  const query = queryOf(index, filters)
  const found = met(index, query.clauses)
  return { ...pageOf(index, query, found.docs, page), facets: facetsAmong(index, query, found) }
}

function pageOf(index: SearchIndex, { text }: Query, found: Docs, page: Page): Found {
  const docs = text === undefined ? found : byMatch(index, found, text)
  const offers: Offer[] = []
  const end = Math.min(page.offset + page.limit, docs.length)
  for (let at = page.offset; at < end; at++) offers.push(index.offers[docs[at] ?? 0] as Offer)
  return { total: docs.length, offers }
}
