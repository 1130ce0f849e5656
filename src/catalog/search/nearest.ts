import { distance } from 'fastest-levenshtein'
import { fold, wordsOf } from '../../lib/text.ts'
import { type Column, countsAmong, docsWith, placesAmong, valuesAmong } from './column.ts'
import { type Docs, intersect } from './docs.ts'
import type { SearchIndex } from './search-index.ts'

/*
 * What a caller could have asked for instead, nearest first. Every value comes from offers that exist,
 * because a hint must never invent one.
 */

/** Brand names among these offers, by how little they differ from what was given. */
export function nearestBrands(index: SearchIndex, given: string, docs: Docs): string[] {
  const column = index.brandNames
  const names = comparedNames(column)
  const near = byDistance(
    given,
    placesAmong(column, docs).map((place) => names[place] as Compared),
  )
  return near.map(({ name }) => name)
}

/** Countries among these offers: those of the given one's regions first, then by offers. */
export function nearestCountries(index: SearchIndex, given: string, docs: Docs): string[] {
  const regions = new Set(valuesAmong(index.regions, docsWith(index.countries, given)))
  const shares = ([code]: readonly [string, number]) =>
    valuesAmong(index.regions, docsWith(index.countries, code)).some((region) =>
      regions.has(region),
    )
  const counted = countsAmong(index.countries, docs)
  const near = counted.filter(shares)
  return [...near, ...counted.filter((entry) => !near.includes(entry))].map(([code]) => code)
}

/** Values among these offers, those with the most offers first. */
export function mostOffered(column: Column, docs: Docs): string[] {
  return countsAmong(column, docs).map(([value]) => value)
}

/** Durations among these offers, by how few days they differ from what was given. */
export function nearestDurations(index: SearchIndex, given: number, docs: Docs): number[] {
  const days = valuesAmong(index.durations, docs).map(Number)
  return days.sort((one, other) => Math.abs(one - given) - Math.abs(other - given) || one - other)
}

/** The given countries without those that empty the result, as many as can stay. */
export function coverableOf(index: SearchIndex, given: readonly string[], docs: Docs): string[] {
  let left = docs
  return given.filter((code) => {
    const still = intersect(left, docsWith(index.covered, code))
    if (still.length > 0) left = still
    return still.length > 0
  })
}

/** The most that any of these offers is worth in USD, in whole cents rounded down. */
export function highestFaceUsd(index: SearchIndex, docs: Docs): number[] {
  let most = Number.NEGATIVE_INFINITY
  for (const doc of docs) {
    const value = index.faceUsd.max[doc] as number
    if (value > most) most = value
  }
  return Number.isFinite(most) ? [Math.floor(most * 100 + 1e-6) / 100] : []
}

/** The least that any of these offers is worth in USD, in whole cents rounded up. */
export function lowestFaceUsd(index: SearchIndex, docs: Docs): number[] {
  let least = Number.POSITIVE_INFINITY
  for (const doc of docs) {
    const value = index.faceUsd.min[doc] as number
    if (value < least) least = value
  }
  return Number.isFinite(least) ? [Math.ceil(least * 100 - 1e-6) / 100] : []
}

/** A name as texts are compared with it. */
interface Compared {
  readonly name: string
  readonly whole: string
  readonly words: readonly string[]
}

/** Taking thousands of names apart takes longer than comparing them, so it is done once for an index. */
const compared = new WeakMap<Column, readonly Compared[]>()

function comparedNames(column: Column): readonly Compared[] {
  const known = compared.get(column)
  if (known !== undefined) return known
  const names = column.values.map((name) => ({ name, whole: fold(name), words: wordsOf(name) }))
  compared.set(column, names)
  return names
}

/** No more than these are of use: a hint tries fewer. */
const maxNearest = 32

/** The nearest names, nearest first. Those whose length alone is too far off are not compared. */
function byDistance(given: string, names: readonly Compared[]): Compared[] {
  const text = fold(given)
  const nearest: { readonly one: Compared; readonly far: number }[] = []
  for (const one of names) {
    const most = nearest[maxNearest - 1]?.far ?? Number.POSITIVE_INFINITY
    const far = distanceTo(text, one, most)
    if (far >= most) continue
    nearest.splice(placeBehind(nearest, far), 0, { one, far })
    nearest.length = Math.min(nearest.length, maxNearest)
  }
  return nearest.map(({ one }) => one)
}

function placeBehind(sorted: readonly { readonly far: number }[], far: number): number {
  const at = sorted.findIndex((each) => each.far > far)
  return at < 0 ? sorted.length : at
}

/** A name of several words is also near by one of its words, though less so than as a whole. */
function distanceTo(text: string, { whole, words }: Compared, most: number): number {
  let least = distanceBelow(text, whole, most)
  for (const word of words) least = Math.min(least, 1 + distanceBelow(text, word, most - 1))
  return least
}

function distanceBelow(text: string, word: string, most: number): number {
  const isFar = Math.abs(word.length - text.length) >= most
  return isFar ? Number.POSITIVE_INFINITY : distance(text, word)
}
