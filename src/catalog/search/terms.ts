import { addRuns, type Bits } from './bits.ts'
import { packRuns, type Runs } from './runs.ts'
import { beginsWith, findText, lengthAt, packTexts, placeOf, type Texts, textAt } from './texts.ts'
import { isTypoOf, lettersOf, mayHaveTypos } from './words.ts'

/** A sorted dictionary of words, each with the docs that have it. */
export interface Terms {
  readonly texts: Texts
  readonly docs: Runs
  /** The letters of each word (`lettersOf`). */
  readonly letters: Uint32Array
}

/**
 * @param words each once, in any order
 * @param each calls back with every word of every doc, docs ascending; a word by its index in `words`
 */
export function packTerms(
  words: readonly string[],
  each: (add: (word: number, doc: number) => void) => void,
): Terms {
  const order = [...words.keys()].sort((one, other) =>
    (words[one] as string) < (words[other] as string) ? -1 : 1,
  )
  const places = new Uint32Array(words.length)
  for (const [place, word] of order.entries()) places[word] = place
  const sorted = order.map((word) => words[word] as string)
  return {
    texts: packTexts(sorted),
    docs: packRuns(words.length, (add) => each((word, doc) => add(places[word] as number, doc))),
    letters: Uint32Array.from(sorted, lettersOf),
  }
}

/** Adds the docs of exactly this word. Like the functions below, returns how many docs it added, perhaps some twice. */
export function addWord({ texts, docs }: Terms, word: string, bits: Bits): number {
  const at = findText(texts, word)
  return at === undefined ? 0 : addRuns(bits, docs, at)
}

/** Adds the docs of the words that begin with `prefix`, which are neighbours in the sorted dictionary. */
export function addFrom({ texts, docs }: Terms, prefix: string, bits: Bits): number {
  const words = texts.starts.length - 1
  let added = 0
  for (let at = placeOf(texts, prefix); at < words && beginsWith(texts, at, prefix); at++) {
    added += addRuns(bits, docs, at)
  }
  return added
}

/** Adds the docs of the words that are one typo away from `word`. */
export function addLike({ texts, docs, letters }: Terms, word: string, bits: Bits): number {
  if (!mayHaveTypos(word)) return 0
  const given = lettersOf(word)
  let added = 0
  for (let at = 0; at < letters.length; at++) {
    // One typo removes at most one letter and adds at most one.
    let differ = (letters[at] as number) ^ given
    differ &= differ - 1
    differ &= differ - 1
    if (differ !== 0 || Math.abs(lengthAt(texts, at) - word.length) > 1) continue
    if (isTypoOf(word, textAt(texts, at))) added += addRuns(bits, docs, at)
  }
  return added
}
