import { type Bits, hasBit, pageIn } from './bits.ts'
import type { Docs } from './docs.ts'
import { type Facets, facetsAmong } from './facets.ts'
import { type Filters, type Matches, met, type Query, queryOf, setOf } from './filters.ts'
import type { SearchIndex } from './search-index.ts'
import { pageByMatch } from './text.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** One page of the `total` docs that were found. */
export interface FoundPage {
  readonly total: number
  readonly docs: Docs
}

/** Finds offers and returns one page of them. The order is total, so pages neither repeat nor skip any. */
export function search(index: SearchIndex, filters: Filters, page: Page): FoundPage {
  const query = queryOf(index, filters)
  return pageOf(index, query, { found: met(index, query.clauses), page })
}

/** Likewise, with the facets of the same result. */
export function searchWithFacets(
  index: SearchIndex,
  filters: Filters,
  page: Page,
): FoundPage & { readonly facets: Facets } {
  const query = queryOf(index, filters)
  const found = met(index, query.clauses)
  // Last, because making the page changes the found set.
  const facets = facetsAmong(index, query, found)
  return { ...pageOf(index, query, { found, page }), facets }
}

/** By the best match of the text and then as published, or by face value in USD, unknown ones last. */
export type Order = 'match' | 'low' | 'high'

/** One page of what a query found. It may change the found set. */
export function pageOf(
  index: SearchIndex,
  { text }: Query,
  { found, page, order = 'match' }: { found: Matches; page: Page; order?: Order | undefined },
): FoundPage {
  const { total } = found
  if (total === 0 || page.offset >= total) return { total, docs: new Uint32Array(0) }
  if (order !== 'match') {
    const set = setOf(index, found)
    return { total, docs: pageByValue(index.byFaceUsd[order], { set, total }, page) }
  }
  if (text === undefined) return { total, docs: inOrder(found, page) }
  return { total, docs: pageByMatch(index, setOf(index, found), text, page) }
}

function inOrder(found: Matches, { offset, limit }: Page): Docs {
  const end = Math.min(offset + limit, found.total)
  if ('docs' in found) return found.docs.slice(offset, end)
  return pageIn(found.bits, offset, end - offset)
}

/** Walks an order of all docs from the nearer end, as far as the page reaches. */
function pageByValue(
  order: Uint32Array,
  { set, total }: { readonly set: Bits; readonly total: number },
  { offset, limit }: Page,
): Docs {
  const docs = new Uint32Array(Math.min(limit, total - offset))
  const behind = total - offset - docs.length
  const isForward = offset <= behind
  const step = isForward ? 1 : -1
  let at = isForward ? 0 : order.length - 1
  let passed = -Math.min(offset, behind)
  for (; passed < docs.length; at += step) {
    const doc = order[at] as number
    if (!hasBit(set, doc)) continue
    if (passed >= 0) docs[isForward ? passed : docs.length - 1 - passed] = doc
    passed += 1
  }
  return docs
}
