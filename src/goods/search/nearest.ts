import { distance } from 'fastest-levenshtein'
import { fold, wordsOf } from '../../primitives/text.ts'
import { type Column, countsAmong, docsWith, valuesAmong } from './column.ts'
import { type Docs, intersect } from './docs.ts'
import type { SearchIndex } from './search-index.ts'

/*
 * What a caller could have asked for instead, nearest first. Every value is taken from offers that
 * exist (decisions 2: no hint may invent an offer).
 */

/** Brand names among these offers, by how little they differ from what was given. */
export function nearestBrands(index: SearchIndex, given: string, docs: Docs): string[] {
  return byDistance(given, valuesAmong(index.brandNames, docs))
}

/** Countries among these offers: those of the given one's regions first, then by offers. */
export function nearestCountries(index: SearchIndex, given: string, docs: Docs): string[] {
  const regions = new Set(valuesAmong(index.regions, docsWith(index.countries, given)))
  const shares = ([code]: [string, number]) =>
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
  const most = Array.from(docs, (doc) => index.faceUsd.max[doc] ?? Number.NaN).filter(
    Number.isFinite,
  )
  return most.length === 0
    ? []
    : [Math.floor(most.reduce((one, other) => Math.max(one, other)) * 100 + 1e-6) / 100]
}

/** The least that any of these offers is worth in USD, in whole cents rounded up. */
export function lowestFaceUsd(index: SearchIndex, docs: Docs): number[] {
  const least = Array.from(docs, (doc) => index.faceUsd.min[doc] ?? Number.NaN).filter(
    Number.isFinite,
  )
  return least.length === 0
    ? []
    : [Math.ceil(least.reduce((one, other) => Math.min(one, other)) * 100 - 1e-6) / 100]
}

function byDistance(given: string, values: readonly string[]): string[] {
  const text = fold(given)
  return values
    .map((value) => ({ value, far: distanceTo(text, value) }))
    .sort((one, other) => one.far - other.far)
    .map(({ value }) => value)
}

/** A name of several words is also near by one of its words, though less so than as a whole. */
function distanceTo(text: string, name: string): number {
  const words = wordsOf(name).map((word) => distance(text, word) + 1)
  return Math.min(distance(text, fold(name)), ...words)
}
