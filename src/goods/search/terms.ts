import { type Docs, unite } from './docs.ts'
import { isTypoOf } from './words.ts'

/** A sorted dictionary of words, each with the offers that have it. */
export interface Terms {
  readonly words: readonly string[]
  readonly docs: readonly Docs[]
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
      }
    },
  }
}

/** The offers with a word that begins with `prefix`. */
export function startingWith(terms: Terms, prefix: string, size: number): Docs {
  return unite(listsFrom(terms, prefix), size)
}

/** The offers with a word that begins with `word`, or that is one typo away from it. */
export function startingWithOrLike(terms: Terms, word: string, size: number): Docs {
  const lists = listsFrom(terms, word)
  for (const [at, known] of terms.words.entries()) {
    const list = terms.docs[at]
    if (list !== undefined && isTypoOf(word, known)) lists.push(list)
  }
  return unite(lists, size)
}

function listsFrom(terms: Terms, prefix: string): Docs[] {
  const lists: Docs[] = []
  for (let at = lowerBound(terms.words, prefix); at < terms.words.length; at++) {
    const list = terms.docs[at]
    if (list === undefined || !terms.words[at]?.startsWith(prefix)) break
    lists.push(list)
  }
  return lists
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
