import type { Catalog } from './catalog.ts'
import { findFor } from './question/find.ts'
import { isTypoOf } from './search/words.ts'

/** So many offers that a brand has in a country are compared with an id. */
const maxCompared = 200
/** Longer texts are no ids. */
const maxId = 100

/**
 * The id that was meant by one that no offer has: the only one with all its parts, of which one word
 * may be misspelled. Numbers and codes of countries must be there as they are written, because a card
 * of another value or country is another card.
 */
export function offerMeantBy({ sold, rates }: Pick<Catalog, 'sold' | 'rates'>, text: string) {
  const wanted = partsOf(text)
  if (wanted.length < 2 || text.length > maxId) return undefined
  const { kinds: found } = findFor(sold, { query: wanted.join(' ') }, rates, maxCompared)
  const ids = found.flatMap(({ kind, docs }) =>
    Array.from(docs, (doc) => sold[kind].offerAt(doc).id),
  )
  const meant = ids.filter((id) => hasAll(partsOf(id), wanted))
  return meant.length === 1 ? meant[0] : undefined
}

function partsOf(id: string): string[] {
  return id
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((part) => part !== '')
}

function hasAll(parts: readonly string[], wanted: readonly string[]): boolean {
  const missing = wanted.filter((part) => !parts.includes(part))
  const [only = ''] = missing
  if (missing.length === 0) return true
  return (
    missing.length === 1 && /^[A-Z]{4,}$/.test(only) && parts.some((part) => isTypoOf(only, part))
  )
}
