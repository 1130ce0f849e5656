import { distance } from 'fastest-levenshtein'
import { isTypoOf, lettersOf } from './words.ts'

/** Names by their length, each with its letters as bits, which rule out most different names quickly. */
export interface Likenesses<T> {
  readonly byLength: readonly (Names<T> | undefined)[]
}

interface Names<T> {
  readonly names: readonly string[]
  readonly letters: Uint32Array
  readonly values: readonly T[]
}

export function likenesses<T>(names: Iterable<readonly [name: string, value: T]>): Likenesses<T> {
  const byLength: (readonly [string, T])[][] = []
  for (const one of names) {
    byLength[one[0].length] ??= []
    byLength[one[0].length]?.push(one)
  }
  return {
    byLength: Array.from(byLength, (list = []) => ({
      names: list.map(([name]) => name),
      letters: Uint32Array.from(list, ([name]) => lettersOf(name)),
      values: list.map(([, value]) => value),
    })),
  }
}

/** The values of the names that are a typo or two away from the text. */
export function alike<T>({ byLength }: Likenesses<T>, text: string): T[] {
  const found: T[] = []
  for (let length = Math.max(1, text.length - 2); length <= text.length + 2; length++) {
    const names = byLength[length]
    if (names !== undefined) addAlike(names, text, found)
  }
  return found
}

function addAlike<T>({ names, letters, values }: Names<T>, text: string, into: T[]): void {
  const given = lettersOf(text)
  for (let at = 0; at < letters.length; at++) {
    if (!mayBeLike((letters[at] as number) ^ given)) continue
    if (isLike(text, names[at] as string)) into.push(values[at] as T)
  }
}

/** Two typos remove at most two letters and add at most two, so at most four bits differ. */
function mayBeLike(bits: number): boolean {
  let differ = bits & (bits - 1)
  differ &= differ - 1
  differ &= differ - 1
  return (differ & (differ - 1)) === 0
}

/** Whether two words without spaces differ by one typo, or by at most two if they are long. */
function isLike(text: string, name: string): boolean {
  const apart = Math.abs(text.length - name.length)
  if (apart > 2 || text.length < 4 || text === name) return false
  if (apart < 2 && isTypoOf(text, name)) return true
  if (text.length === 4) return apart === 0 && isSwapped(text, name)
  return Math.min(text.length, name.length) >= 8 && text[0] === name[0] && distance(text, name) <= 2
}

function isSwapped(text: string, name: string): boolean {
  for (let at = 0; at + 1 < text.length; at++) {
    const swapped = `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`
    if (swapped === name) return true
  }
  return false
}
