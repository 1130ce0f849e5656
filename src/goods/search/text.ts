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
  const rankOf = ranking(phraseOf(text))
  const ranks: number[][] = [[], [], [], [], []]
  for (const doc of docs) {
    const { found, forgiven } = rankOf(index.nameForms[doc] ?? [])
    ranks[exact[doc] === 1 ? found : forgiven]?.push(doc)
  }
  return Uint32Array.from(ranks.flat())
}

interface Ranks {
  /** When every word was found: 0 exact brand, 1 brand prefix, 2 the rest. */
  readonly found: 0 | 1 | 2
  /** When a typo was forgiven: 3 in the brand, 4 elsewhere. */
  readonly forgiven: 3 | 4
}

/** Ranks by the forms of a brand's name. Offers of one brand share them and are ranked once. */
function ranking(phrase: string): (forms: readonly string[]) => Ranks {
  const known = new Map<readonly string[], Ranks>()
  return (forms) => {
    const ranks = known.get(forms) ?? ranksOf(forms, phrase)
    known.set(forms, ranks)
    return ranks
  }
}

function ranksOf(forms: readonly string[], phrase: string): Ranks {
  const begins = forms.some((form) => form.startsWith(phrase)) ? 1 : 2
  return {
    found: forms.includes(phrase) ? 0 : begins,
    forgiven: forms.some((form) => isTypoOf(phrase, form)) ? 3 : 4,
  }
}

function everyWord(text: string, docsOf: (word: string) => Docs): Docs {
  const lists = wordsOf(text).map(docsOf)
  return lists.length === 0 ? new Uint32Array(0) : lists.reduce(intersect)
}
