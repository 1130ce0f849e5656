import { addDocs, pageIn } from './bits.ts'
import type { Docs } from './docs.ts'
import { type Facets, facetsAmong } from './facets.ts'
import { type Filters, type Found, met, type Query, queryOf } from './filters.ts'
import type { SearchIndex } from './search-index.ts'
import { pageByMatch } from './text.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** One page of what was found, out of `total`. */
export interface FoundPage {
  readonly total: number
  readonly docs: Docs
}

/** Finds offers and gives one page of them. The order is total, so pages neither repeat nor skip. */
export function search(index: SearchIndex, filters: Filters, page: Page): FoundPage {
  const query = queryOf(index, filters)
  return pageOf(index, query, { found: met(index, query.clauses), page })
}

/** Likewise, with the values to switch to. Both come from one look at the index. */
export function searchWithFacets(
  index: SearchIndex,
  filters: Filters,
  page: Page,
): FoundPage & { readonly facets: Facets } {
  const query = queryOf(index, filters)
  const found = met(index, query.clauses)
  // The page uses up the set that was found, so it comes last.
  const facets = facetsAmong(index, query, found)
  return { ...pageOf(index, query, { found, page }), facets }
}

function pageOf(
  index: SearchIndex,
  { text }: Query,
  { found, page }: { readonly found: Found; readonly page: Page },
): FoundPage {
  const { total } = found
  if (total === 0 || page.offset >= total) return { total, docs: new Uint32Array(0) }
  if (text === undefined) return { total, docs: inOrder(found, page) }
  if ('bits' in found) return { total, docs: pageByMatch(index, found.bits, text, page) }
  const set = index.scratch.bits()
  addDocs(set, found.docs, total)
  return { total, docs: pageByMatch(index, set, text, page) }
}

function inOrder(found: Found, { offset, limit }: Page): Docs {
  const end = Math.min(offset + limit, found.total)
  if ('docs' in found) return found.docs.slice(offset, end)
  return pageIn(found.bits, offset, end - offset)
}
