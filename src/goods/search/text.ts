import { wordsOf } from '../../primitives/text.ts'
import { type Docs, intersect, marksOf } from './docs.ts'
import type { SearchIndex } from './search-index.ts'
import { startingWith, startingWithOrLike } from './terms.ts'
import { isTypoOf, phraseOf } from './words.ts'

/** The offers in which every word of the text begins a word (decisions 2). */
function exactly(index: SearchIndex, text: string): Docs {
  const size = index.offers.length
  return everyWord(text, (word) => startingWith(index.words, word, size))
}

/** Likewise, with one-letter typos forgiven. */
export function nearOrExact(index: SearchIndex, text: string): Docs {
  const size = index.offers.length
  return everyWord(text, (word) => startingWithOrLike(index.words, word, size))
}

/**
 * Puts offers that were found by a text in order: exact brand, brand prefix, the rest, and after
 * all of these what was found by forgiving a typo, brands first.
 */
export function byMatch(index: SearchIndex, docs: Docs, text: string): Docs {
  const exact = marksOf([exactly(index, text)], index.offers.length)
  const phrase = phraseOf(text)
  const ranks: number[][] = [[], [], [], [], []]
  for (const doc of docs) {
    const forms = index.nameForms[doc] ?? []
    ranks[exact[doc] === 1 ? exactRank(forms, phrase) : typoRank(forms, phrase)]?.push(doc)
  }
  return Uint32Array.from(ranks.flat())
}

function exactRank(forms: readonly string[], phrase: string): 0 | 1 | 2 {
  if (forms.includes(phrase)) return 0
  return forms.some((form) => form.startsWith(phrase)) ? 1 : 2
}

function typoRank(forms: readonly string[], phrase: string): 3 | 4 {
  return forms.some((form) => isTypoOf(phrase, form)) ? 3 : 4
}

function everyWord(text: string, docsOf: (word: string) => Docs): Docs {
  const lists = wordsOf(text).map(docsOf)
  return lists.length === 0 ? new Uint32Array(0) : lists.reduce(intersect)
}
