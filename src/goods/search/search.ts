import { addDocs, type Bits, hasBit, pageIn } from './bits.ts'
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

/** By the best match of a text and then as published, or by face value in USD, unknown ones last. */
export type Order = 'match' | 'low' | 'high'

/** One page of what a query found, which it may use up. */
export function pageOf(
  index: SearchIndex,
  { text }: Query,
  { found, page, order = 'match' }: { found: Found; page: Page; order?: Order | undefined },
): FoundPage {
  const { total } = found
  if (total === 0 || page.offset >= total) return { total, docs: new Uint32Array(0) }
  if (order !== 'match')
    return { total, docs: pageByValue(index, setOf(index, found), page, order) }
  if (text === undefined) return { total, docs: inOrder(found, page) }
  return { total, docs: pageByMatch(index, setOf(index, found), text, page) }
}

function setOf({ scratch }: SearchIndex, found: Found): Bits {
  if ('bits' in found) return found.bits
  const set = scratch.bits()
  addDocs(set, found.docs, found.total)
  return set
}

function inOrder(found: Found, { offset, limit }: Page): Docs {
  const end = Math.min(offset + limit, found.total)
  if ('docs' in found) return found.docs.slice(offset, end)
  return pageIn(found.bits, offset, end - offset)
}

/** Follows the order that was made with the index, as far as the page reaches. */
function pageByValue(
  { byFaceUsd }: SearchIndex,
  set: Bits,
  { offset, limit }: Page,
  order: 'low' | 'high',
): Docs {
  const docs: number[] = []
  let passed = 0
  const walked = byFaceUsd[order]
  for (let at = 0; at < walked.length && docs.length < limit; at++) {
    const doc = walked[at] as number
    if (!hasBit(set, doc)) continue
    if (passed >= offset) docs.push(doc)
    passed += 1
  }
  return Uint32Array.from(docs)
}
