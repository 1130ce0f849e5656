import { distance } from 'fastest-levenshtein'
import { fold, foldedWords } from '../../lib/text.ts'

/** A typo is allowed only if one of the two words has this many letters (docs/contributors/decisions/017). */
const lettersForTypos = 5

/** Words with an apostrophe also joined: people write "McDonald's" as "mcdonalds", "L'Oréal" as "oreal". */
export function indexWordsOf(text: string): string[] {
  const words = foldedWords(text)
  const joined = /['’]/.test(text) ? foldedWords(text.replace(/['’]/g, '')) : []
  const parted = words.flatMap((word) => partsOf(word) ?? [])
  return joined.length + parted.length === 0 ? words : [...words, ...joined, ...parted]
}

export function soughtWordsOf(text: string): string[] {
  return foldedWords(text).flatMap((word) => partsOf(word) ?? [word])
}

function partsOf(word: string): [string, string] | undefined {
  const [, amount, unit] = /^(\d+)(gb|mb|tb|d|days?|min)$/.exec(word) ?? []
  return amount === undefined || unit === undefined ? undefined : [amount, unit]
}

/** A name in the forms that a whole text is compared with, such as "7 eleven" for "7-Eleven". */
export function nameFormsOf(name: string): string[] {
  return [...new Set([fold(name), phraseOf(name), phraseOf(name.replace(/['’]/g, ''))])]
}

export function phraseOf(text: string): string {
  return foldedWords(text).join(' ')
}

/** Whether the words differ by one letter that is added, left out, changed, or swapped with its neighbour. */
export function isTypoOf(word: string, other: string): boolean {
  const [short, long] = word.length <= other.length ? [word, other] : [other, word]
  if (long.length < lettersForTypos || long.length - short.length > 1 || short === long) {
    return false
  }
  const at = firstDifference(short, long)
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  return short.slice(at + 1) === long.slice(at + 1) || isSwapped(short, long)
}

function isSwapped(word: string, other: string): boolean {
  const at = firstDifference(word, other)
  const [first = '', second = ''] = word.slice(at, at + 2)
  return other.slice(at) === second + first + word.slice(at + 2)
}

function firstDifference(short: string, long: string): number {
  let at = 0
  while (at < short.length && short[at] === long[at]) at++
  return at
}

/** Gives the values of the names that are a typo or two away from a text. */
export type Likenesses<T> = (text: string) => T[]

export function likenesses<T>(names: Iterable<readonly [name: string, value: T]>): Likenesses<T> {
  const all = Array.from(names, ([name, value]) => ({ name, value, letters: lettersOf(name) }))
  const byLength = Map.groupBy(all, ({ name }) => name.length)
  return (text) => {
    const letters = lettersOf(text)
    return [-2, -1, 0, 1, 2]
      .flatMap((more) => byLength.get(text.length + more) ?? [])
      .filter((one) => mayBeLike(one.letters ^ letters) && isLike(text, one.name))
      .map(({ value }) => value)
  }
}

/** Which letters a word has, one bit each: a quick test that most different words fail. */
function lettersOf(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

/** Two typos remove at most two letters and add at most two, so at most four bits differ. */
function mayBeLike(bits: number): boolean {
  let differ = bits & (bits - 1)
  differ &= differ - 1
  differ &= differ - 1
  return (differ & (differ - 1)) === 0
}

function isLike(text: string, name: string): boolean {
  const apart = Math.abs(text.length - name.length)
  if (text.length < 4 || text === name) return false
  if (apart < 2 && isTypoOf(text, name)) return true
  if (text.length === 4) return apart === 0 && isSwapped(text, name)
  return Math.min(text.length, name.length) >= 8 && text[0] === name[0] && distance(text, name) <= 2
}
