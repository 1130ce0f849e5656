import { wordsOf } from '../../primitives/text.ts'
import { type Bits, bitsOf, hasBit, meet } from './bits.ts'
import type { Docs } from './docs.ts'
import type { SearchIndex } from './search-index.ts'
import { listOf, listsFrom, listsLike, type Terms } from './terms.ts'
import { phraseOf } from './words.ts'

/** The offers that a text finds (decisions 2). */
export interface TextMatch {
  readonly phrase: string
  /** Those in which every word of the text begins a word, one-letter typos forgiven. */
  readonly near: Bits
  /** Likewise without any typo. The same object as `near` where no typo was forgiven. */
  readonly exact: Bits
}

/** A text without words finds nothing. */
export function textMatch({ words, offers }: SearchIndex, text: string): TextMatch {
  const found = wordsOf(text).map((word) => wordMatch(words, word, offers.length))
  const phrase = phraseOf(text)
  const [first, ...rest] = found
  if (first === undefined) {
    const nothing = bitsOf([], offers.length)
    return { phrase, near: nothing, exact: nothing }
  }
  const near = rest.reduce<Bits>(
    (left, word) => meet(left, word.near),
    Uint32Array.from(first.near),
  )
  if (found.every((word) => word.near === word.exact)) return { phrase, near, exact: near }
  const exact = rest.reduce<Bits>((left, word) => meet(left, word.exact), first.exact)
  return { phrase, near, exact }
}

function wordMatch(terms: Terms, word: string, size: number) {
  const begun = listsFrom(terms, word)
  const liked = listsLike(terms, word)
  const exact = bitsOf(begun, size)
  return { exact, near: liked.length === 0 ? exact : bitsOf([...begun, ...liked], size) }
}

/**
 * Puts offers that were found by a text in order: exact brand, brand prefix, the rest, and after
 * all of these what was found by forgiving a typo, brands first.
 */
export function byMatch(index: SearchIndex, docs: Docs, match: TextMatch): Docs {
  const ranks = ranksOf(index, docs, match)
  const ends = [0, 0, 0, 0, 0]
  for (const rank of ranks) for (let at = rank + 1; at < 5; at++) ends[at] = (ends[at] ?? 0) + 1
  const sorted = new Uint32Array(docs.length)
  for (let at = 0; at < docs.length; at++) {
    const rank = ranks[at] ?? 0
    const place = ends[rank] ?? 0
    sorted[place] = docs[at] ?? 0
    ends[rank] = place + 1
  }
  return sorted
}

function setAll(ranks: Uint8Array, lists: Iterable<Iterable<number>>, rank: number): void {
  for (const list of lists) for (const each of list) ranks[each] = rank
}

/** When every word was found: 0 exact brand, 1 brand prefix, 2 the rest; 3 and 4 with a typo. */
function ranksOf({ names, nameForms }: SearchIndex, docs: Docs, match: TextMatch): Uint8Array {
  const { phrase, exact, near } = match
  const found = new Uint8Array(names.combos.length).fill(2)
  setAll(found, listsFrom(nameForms, phrase), 1)
  setAll(found, [listOf(nameForms, phrase)], 0)
  const forgiven = new Uint8Array(names.combos.length).fill(4)
  if (exact !== near) setAll(forgiven, listsLike(nameForms, phrase), 3)
  const ranks = new Uint8Array(docs.length)
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at] ?? 0
    const brand = names.codes[doc] ?? 0
    ranks[at] = (exact === near || hasBit(exact, doc) ? found[brand] : forgiven[brand]) ?? 2
  }
  return ranks
}
