import { wordsOf } from '../../lib/text.ts'
import { isCountryName } from '../countries.ts'
import { brandLexicon, brandsLike } from './brand-lexicon.ts'
import type { Filters } from './filters.ts'
import type { Instead } from './hint.ts'
import type { SearchIndex } from './search-index.ts'
import type { FieldName } from './stock.ts'

/*
 * What a caller could have asked for instead, nearest first. Every value comes from offers that exist,
 * because a hint must never invent one.
 */

/** Brands whose name or alias is a typo or two away from the given text; never a test brand. */
export function nearestBrands(index: SearchIndex, given: string): Instead<string> {
  const lexicon = brandLexicon(index)
  const near = brandsLike(lexicon, wordsOf(given).join(''))
  const brands = near.filter((brand) => !lexicon.tests.includes(brand))
  return { values: [...new Set(brands.map(lexicon.nameOf))] }
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
  left: Filters,
): Instead<string> | undefined {
  if (index.count(left) === index.size) return undefined
  const own = nearFirst(index, [given], mostOffered(index, 'country', left))
  return {
    values: [...new Set([...own, ...mostOffered(index, 'covers', left)])],
    say: (works) => `Some are for ${listed(works)}. Check that one of these is of use.`,
  }
}

/** The countries with those first that share a region with one of the given countries. */
export function nearFirst(
  index: SearchIndex,
  given: readonly string[],
  codes: readonly string[],
): string[] {
  const regionsOf = (code: string) => index.values('region', { country: code })
  const own = new Set(given.flatMap(regionsOf))
  const isNear = (code: string) => regionsOf(code).some((region) => own.has(region))
  const { near = [], far = [] } = Object.groupBy(codes, (code) => (isNear(code) ? 'near' : 'far'))
  return [...near, ...far]
}

/** These values as alternatives; undefined if nothing else was asked for. */
export function valuesWith<Value extends string>(
  index: SearchIndex,
  values: readonly Value[],
  left: Filters,
): Instead<Value> | undefined {
  if (index.count(left) === index.size) return undefined
  return { values, say: (works) => `Some have ${listed(works)}.` }
}

/** The most values that a hint lists. */
const maxListed = 12

function listed(values: readonly string[]): string {
  const more = values.length > maxListed ? ', …' : ''
  return `${values.slice(0, maxListed).join(', ')}${more}`
}

/** The values of the matches, those with the most offers first. */
export function mostOffered(index: SearchIndex, field: FieldName, filters: Filters): string[] {
  return index.counts(field, filters).map(([value]) => value)
}

/** The durations of the matches, the nearest to the given one first. */
export function nearestDurations(
  index: SearchIndex,
  given: number,
  filters: Filters,
): Instead<number> {
  const days = index.values('duration', filters).map(Number)
  const far = (one: number) => Math.abs(one - given)
  return { values: days.sort((one, other) => far(one) - far(other) || one - other) }
}

/** Those of the given countries that some of the matches cover together, taken greedily in their order. */
export function coverableOf(
  index: SearchIndex,
  given: readonly string[],
  filters: Filters,
): string[] {
  const covers = [...(filters.covers ?? [])]
  return given.filter((code) => {
    const isCovered = index.count({ ...filters, covers: [...covers, code] }) > 0
    if (isCovered) covers.push(code)
    return isCovered
  })
}

/** The highest worth of the matches in USD, rounded down to the cent. */
export function highestFaceUsd(index: SearchIndex, filters: Filters): Instead<number> {
  const most = index.boundsUsd(filters)?.most
  return { values: most === undefined ? [] : [Math.floor(most * 100 + 1e-6) / 100] }
}

/** The lowest worth of the matches in USD, rounded up to the cent. */
export function lowestFaceUsd(index: SearchIndex, filters: Filters): Instead<number> {
  const least = index.boundsUsd(filters)?.least
  return { values: least === undefined ? [] : [Math.ceil(least * 100 - 1e-6) / 100] }
}
