import { fold, wordsOf } from '../../lib/text.ts'

/** A typo is forgiven only where one of the two words has this many letters (docs/decisions/017). */
const lettersForTypos = 5

/**
 * The words that a text is found by. An apostrophe parts words and joins them, because people write
 * "McDonald's" as "mcdonalds" and "L'Oréal" as "oreal".
 */
export function indexWordsOf(text: string): string[] {
  const words = wordsOf(text)
  return /['’]/.test(text) ? [...words, ...wordsOf(text.replace(/['’]/g, ''))] : words
}

/** A name in the forms that a whole text is compared with, such as "7 eleven" for "7-Eleven". */
export function nameFormsOf(name: string): string[] {
  return [...new Set([fold(name), phraseOf(name), phraseOf(name.replace(/['’]/g, ''))])]
}

/** The words of a text with single spaces between them. */
export function phraseOf(text: string): string {
  return wordsOf(text).join(' ')
}

/** Whether a word of any length could be one typo away from this one. */
export function mayHaveTypos(word: string): boolean {
  return word.length >= lettersForTypos - 1
}

/** Whether one letter added, left out, changed, or swapped with its neighbour makes one the other. */
export function isTypoOf(word: string, other: string): boolean {
  const [short, long] = word.length <= other.length ? [word, other] : [other, word]
  if (long.length < lettersForTypos || long.length - short.length > 1 || short === long) {
    return false
  }
  const at = firstDifference(short, long)
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  const swapped = short[at] === long[at + 1] && short[at + 1] === long[at]
  return (
    short.slice(at + 1) === long.slice(at + 1) ||
    (swapped && short.slice(at + 2) === long.slice(at + 2))
  )
}

function firstDifference(short: string, long: string): number {
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  return at
}
