import { wordsOf } from '../../lib/text.ts'
import { isCountryName } from '../countries.ts'
import { brandLexicon, brandsLike } from './brand-lexicon.ts'
import { type Column, countsAmong, docsWith, valuesAmong } from './column.ts'
import { type Docs, intersect } from './docs.ts'
import type { Instead } from './hint.ts'
import type { SearchIndex } from './search-index.ts'

/*
 * What a caller could have asked for instead, nearest first. Every value comes from offers that exist,
 * because a hint must never invent one.
 */

/** Brands whose name or alias is a typo or two away from the given text; never a test brand. */
export function nearestBrands(index: SearchIndex, given: string): Instead<string> {
  const lexicon = brandLexicon(index)
  const near = brandsLike(lexicon, wordsOf(given).join(''))
  const codes = near.filter((code) => !lexicon.tests.includes(code))
  return { values: [...new Set(codes.map(lexicon.nameOf))] }
}

/** The most words of a text that are tried, because each costs a search. */
const maxWords = 16

/**
 * A brand that is spelt almost like the text, or else the words of the text that find something together. Words
 * that are a brand's name, or part of one, are kept before others. Without a whole name among them, the kept words
 * must be at least half of the text.
 */
export function nearestTexts(
  index: SearchIndex,
  given: string,
  finds: (text: string) => boolean,
): Instead<string> {
  const brands = nearestBrands(index, given)
  if (brands.values.some(finds)) return brands
  const all = partsOf(given)
  const words = all.slice(0, maxWords)
  const { whole, parts } = brandLexicon(index)
  const weightOf = (word: string) => (whole.has(word) ? 0 : parts.has(word) ? 1 : 2)
  const kept = new Set<string>()
  const text = () => words.filter((word) => kept.has(word)).join(' ')
  for (const word of words.toSorted((one, other) => weightOf(one) - weightOf(other))) {
    kept.add(word)
    if (!finds(text())) kept.delete(word)
  }
  const isNear = [...kept].some((word) => whole.has(word)) || kept.size * 2 >= words.length
  const without = all.filter((word) => !kept.has(word)).map((word) => `"${word}"`)
  return {
    values: kept.size > 0 && isNear ? [text()] : [],
    say: ([found]) => `"${found}" finds some, without ${without.join(', ')}.`,
  }
}

/** The most words in the name of a country that people write. */
const longestName = 4

/** The words of a text; a country's name of several words is one of them. */
function partsOf(text: string): string[] {
  const words = wordsOf(text)
  const parts: string[] = []
  for (let at = 0; at < words.length; ) {
    let length = Math.min(longestName, words.length - at)
    while (length > 1 && !isCountryName(words.slice(at, at + length).join(' '))) length -= 1
    parts.push(words.slice(at, at + length).join(' '))
    at += length
  }
  return parts
}

/**
 * The countries of what the other parameters find: those near the given one first, then those with the most offers.
 * Undefined if nothing else was asked for, because then no country is nearer than another.
 */
export function countriesWith(
  index: SearchIndex,
  given: string,
  left: Docs,
): Instead<string> | undefined {
  if (left.length === index.size) return undefined
  const own = nearFirst(index, [given], mostOffered(index.countries, left))
  return {
    values: [...new Set([...own, ...mostOffered(index.covered, left)])],
    say: (works) => `Some are for ${listed(works)}. Check that one of these is of use.`,
  }
}

/** The countries with those first that share a region with one of the given countries. */
export function nearFirst(
  { regions, countries }: SearchIndex,
  given: readonly string[],
  codes: readonly string[],
): string[] {
  const regionsOf = (code: string) => valuesAmong(regions, docsWith(countries, code))
  const own = new Set(given.flatMap(regionsOf))
  const isNear = (code: string) => regionsOf(code).some((region) => own.has(region))
  const { near = [], far = [] } = Object.groupBy(codes, (code) => (isNear(code) ? 'near' : 'far'))
  return [...near, ...far]
}

/** These values as alternatives; undefined if nothing else was asked for. */
export function valuesWith<Value extends string>(
  index: SearchIndex,
  values: readonly Value[],
  left: Docs,
): Instead<Value> | undefined {
  if (left.length === index.size) return undefined
  return { values, say: (works) => `Some have ${listed(works)}.` }
}

/** The most values that a hint lists. */
const maxListed = 12

function listed(values: readonly string[]): string {
  const more = values.length > maxListed ? ', …' : ''
  return `${values.slice(0, maxListed).join(', ')}${more}`
}

/** The values that occur in these offers, those with the most offers first. */
export function mostOffered(column: Column, docs: Docs, count = docs.length): string[] {
  return countsAmong(column, docs, count).map(([value]) => value)
}

/** The durations of these offers, the nearest to the given one first. */
export function nearestDurations(index: SearchIndex, given: number, docs: Docs): Instead<number> {
  const days = valuesAmong(index.durations, docs).map(Number)
  const far = (one: number) => Math.abs(one - given)
  return { values: days.sort((one, other) => far(one) - far(other) || one - other) }
}

/** Those of the given countries that some of these offers cover together, taken greedily in their order. */
export function coverableOf(index: SearchIndex, given: readonly string[], docs: Docs): string[] {
  let left = docs
  return given.filter((code) => {
    const still = intersect(left, docsWith(index.covered, code))
    if (still.length > 0) left = still
    return still.length > 0
  })
}

/** The highest worth of these offers in USD, rounded down to the cent. */
export function highestFaceUsd(index: SearchIndex, docs: Docs): Instead<number> {
  let most = Number.NEGATIVE_INFINITY
  for (const doc of docs) {
    const value = index.faceUsd.max[doc] as number
    if (value > most) most = value
  }
  return { values: Number.isFinite(most) ? [Math.floor(most * 100 + 1e-6) / 100] : [] }
}

/** The lowest worth of these offers in USD, rounded up to the cent. */
export function lowestFaceUsd(index: SearchIndex, docs: Docs): Instead<number> {
  let least = Number.POSITIVE_INFINITY
  for (const doc of docs) {
    const value = index.faceUsd.min[doc] as number
    if (value < least) least = value
  }
  return { values: Number.isFinite(least) ? [Math.ceil(least * 100 - 1e-6) / 100] : [] }
}
