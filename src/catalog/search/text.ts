import {
  addRuns,
  type Bits,
  createBits,
  meet,
  nextBit,
  subtract,
  takeShared,
  unite,
} from './bits.ts'
import type { SearchIndex } from './search-index.ts'
import { addFrom, addLike, addWord, type Terms } from './terms.ts'
import { phraseOf, soughtWordsOf } from './words.ts'

/** The offers that a text finds (docs/contributors/decisions/017). */
export interface TextMatch {
  readonly phrase: string
  /** The offers in which every word of the text is the prefix of a word, with one-letter typos allowed. */
  readonly near: Bits
  /** Likewise without typos. The same object as `near` if no typo was needed. */
  readonly exact: Bits
  /** An upper bound of how many docs are in `near`. */
  readonly most: number
}

/** A text without words finds nothing. */
export function textMatch(index: SearchIndex, text: string): TextMatch {
  const found = [...new Set(soughtWordsOf(text))].map((word) => wordMatch(index, word))
  const phrase = phraseOf(text)
  const [first, ...rest] = found
  if (first === undefined) {
    const nothing = index.scratch.bits()
    return { phrase, near: nothing, exact: nothing, most: 0 }
  }
  const most = Math.min(...found.map((word) => word.most))
  const { near, exact } = partsOf(index, found)
  for (const word of rest) meet(near, word.near)
  if (exact !== near) for (const word of rest) meet(exact, word.exact)
  return { phrase, near, exact, most }
}

/** The sets of the first word, to be intersected with those of the others. Two sets if any word has a typo. */
function partsOf({ scratch }: SearchIndex, found: readonly Omit<TextMatch, 'phrase'>[]) {
  const [first] = found
  if (first === undefined) throw new Error('a text without words')
  const { near, exact } = first
  if (near !== exact || found.every((word) => word.near === word.exact)) return { near, exact }
  const copy = scratch.bits()
  unite(copy, exact)
  return { near, exact: copy }
}

function wordMatch(index: SearchIndex, word: string): Omit<TextMatch, 'phrase'> {
  const { words, scratch } = index
  const exact = scratch.bits()
  const begun = addBegun(index, word, exact)
  const near = scratch.bits()
  const liked = addLike(words, word, near)
  if (liked === 0) return { exact, near: exact, most: begun }
  unite(near, exact)
  return { exact, near, most: begun + liked }
}

/** Caches the docs for single letters: there are few letters, and many words begin with each. */
const begunByLetter = new WeakMap<
  Terms,
  Map<string, { readonly set: Bits; readonly docs: number }>
>()

/** Adds the docs of the words that begin with `word`. Returns how many, perhaps counting some twice. */
function addBegun({ words, size }: SearchIndex, word: string, bits: Bits): number {
  if (word.length > 1) return addFrom(words, word, bits)
  const known = begunByLetter.get(words) ?? new Map()
  begunByLetter.set(words, known)
  const begun = known.get(word)
  if (begun !== undefined) {
    unite(bits, begun.set)
    return begun.docs
  }
  const set = createBits(size)
  const docs = addFrom(words, word, set)
  // A letter that begins no word is not cached, because callers may send any character.
  if (docs > 0) known.set(word, { set, docs })
  unite(bits, set)
  return docs
}

/**
 * One page of offers that were found by a text: exact brand, brand prefix, the rest, and last what was found only
 * with a typo, brands first. A set is only read as far as the page reaches into it.
 *
 * @param found what the whole query finds; it is changed
 */
export function pageByMatch(
  index: SearchIndex,
  found: Bits,
  match: TextMatch,
  page: { readonly offset: number; readonly limit: number },
): Uint32Array {
  const docs = new Uint32Array(page.limit)
  let filled = 0
  let skip = page.offset
  for (const wanted of classesOf(index, match)) {
    const bits = wanted()
    const passed = takeShared(found, bits, { skip, into: docs.subarray(filled) })
    filled += Math.max(0, passed - skip)
    if (filled === page.limit) break
    skip = Math.max(0, skip - passed)
    subtract(found, bits)
  }
  return docs.subarray(0, filled)
}

/** The sets in the order of the answer. A doc belongs to the first set that has it. */
function classesOf(index: SearchIndex, { phrase, near, exact }: TextMatch): (() => Bits)[] {
  const { nameForms } = index
  const brandsBy = (add: (bits: Bits) => number) => () => {
    const brands = index.scratch.brandBits()
    add(brands)
    return docsOfBrands(index, brands)
  }
  // If the text is the prefix of a name, each of its words is the prefix of a word, so these need no typo.
  const found = [
    brandsBy((bits) => addWord(nameForms, phrase, bits)),
    brandsBy((bits) => addFrom(nameForms, phrase, bits)),
    () => exact,
  ]
  if (exact === near) return found
  return [...found, brandsBy((bits) => addLike(nameForms, phrase, bits)), () => near]
}

/** The offers of some brands. */
export function docsOfBrands({ ofBrand, scratch }: SearchIndex, brands: Bits): Bits {
  const docs = scratch.bits()
  for (let brand = nextBit(brands, 0); brand >= 0; brand = nextBit(brands, brand + 1)) {
    addRuns(docs, ofBrand, brand)
  }
  return docs
}
