import type { Docs } from './docs.ts'
import { isTypoOf } from './words.ts'

/** A sorted dictionary of words, each with the offers that have it. */
export interface Terms {
  readonly words: readonly string[]
  readonly docs: readonly Docs[]
  /** Which letters each word has, one bit each: most words that are no typo are told by these. */
  readonly letters: Uint32Array
}

/** Builds a dictionary, document by document in ascending order. */
export interface TermsBuilder {
  add(doc: number, words: Iterable<string>): void
  build(): Terms
}

export function termsBuilder(): TermsBuilder {
  const lists = new Map<string, number[]>()
  return {
    add(doc, words) {
      for (const word of words) {
        const list = lists.get(word)
        if (list === undefined) lists.set(word, [doc])
        else if (list.at(-1) !== doc) list.push(doc)
      }
    },
    build() {
      const sorted = [...lists].sort(([one], [other]) => (one < other ? -1 : 1))
      return {
        words: sorted.map(([word]) => word),
        docs: sorted.map(([, list]) => Uint32Array.from(list)),
        letters: Uint32Array.from(sorted, ([word]) => lettersOf(word)),
      }
    },
  }
}

/** The list of exactly this word. */
export function listOf({ words, docs }: Terms, word: string): Docs {
  const at = lowerBound(words, word)
  return (words[at] === word ? docs[at] : undefined) ?? new Uint32Array(0)
}

/** The lists of the words that begin with `prefix`: neighbours in a sorted dictionary. */
export function listsFrom(terms: Terms, prefix: string): Docs[] {
  const lists: Docs[] = []
  for (let at = lowerBound(terms.words, prefix); at < terms.words.length; at++) {
    const list = terms.docs[at]
    if (list === undefined || !terms.words[at]?.startsWith(prefix)) break
    lists.push(list)
  }
  return lists
}

/** The lists of the words that are one typo away from `word`. */
export function listsLike({ words, docs, letters }: Terms, word: string): Docs[] {
  const lists: Docs[] = []
  const given = lettersOf(word)
  for (let at = 0; at < letters.length; at++) {
    // One typo takes at most one letter away and brings at most one in.
    let differ = (letters[at] ?? 0) ^ given
    differ &= differ - 1
    differ &= differ - 1
    const list = docs[at]
    if (differ === 0 && list !== undefined && isTypoOf(word, words[at] ?? '')) lists.push(list)
  }
  return lists
}

function lettersOf(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

function lowerBound(words: readonly string[], word: string): number {
  let low = 0
  let high = words.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((words[middle] ?? '') < word) low = middle + 1
    else high = middle
  }
  return low
}
