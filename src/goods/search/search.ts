import type { Offer } from '../offer.ts'
import type { Docs } from './docs.ts'
import { type Filters, matching } from './filters.ts'
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
  const docs = inOrder(index, filters)
  const shown = docs.subarray(page.offset, page.offset + page.limit)
  return { total: docs.length, offers: offersOf(index, shown) }
}

function inOrder(index: SearchIndex, filters: Filters): Docs {
  const docs = matching(index, filters)
  return filters.text === undefined ? docs : byMatch(index, docs, filters.text)
}

function offersOf(index: SearchIndex, docs: Docs): Offer[] {
  return Array.from(docs, (doc) => index.offers[doc] as Offer)
}
