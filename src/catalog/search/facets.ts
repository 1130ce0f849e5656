import { type Bits, countBetween, docsIn, hasBit, nextBit } from './bits.ts'
import { type Column, docsAt, type Places, placesAmong } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, type Matches, met, type Query } from './filters.ts'
import { highestFirst } from './highest.ts'
import type { SearchIndex } from './search-index.ts'

/** For each facet its values, as indexes of the column with that name. */
export interface Facets {
  readonly countries: Places
  readonly regions: Places
  readonly brands: BrandFacet
  readonly subTypes: Places
}

/** The brands. There may be thousands, and no caller reads all of them. */
interface BrandFacet {
  /** The brands with the most offers, the most first; equal ones by name. */
  readonly places: Places
  /** How many brands there are. */
  readonly total: number
}

/** The most brands that an answer lists. */
const maxBrands = 100

/**
 * For each facet the values found when all *other* filters apply, so that a caller can switch from
 * one value to another.
 *
 * @param found what the whole query finds
 */
export function facetsAmong(index: SearchIndex, { clauses }: Query, found: Matches): Facets {
  const others = (own: keyof Filters) => {
    const left = clauses.filter((clause) => clause.own !== own)
    return left.length === clauses.length ? found : met(index, left)
  }
  return {
    countries: placesIn(index, index.countries, others('country')),
    regions: placesIn(index, index.regions, others('regions')),
    brands: brandsIn(index.brandNames, others('brand')),
    subTypes: placesIn(index, index.subTypes, others('subType')),
  }
}

function placesIn(index: SearchIndex, column: Column, found: Matches): Places {
  if ('docs' in found) {
    return found.kept ? known(column, found.docs) : placesAmong(column, found.docs, found.total)
  }
  return valuesIn(index, column, found)
}

/**
 * The values in lists that the index keeps: the docs of one value, of a pair of values, or all. They are computed on
 * first use and stay true, since an index never changes. They are freed with their list.
 */
const remembered = new WeakMap<Docs, Map<Column, Places>>()
const kept = new WeakSet<Places>()

/** Whether the same query gives this same object again, so that what is made of it can be cached. */
export function areKept(places: Places): boolean {
  return kept.has(places)
}

function known(column: Column, docs: Docs): Places {
  const ofDocs = remembered.get(docs) ?? new Map<Column, Places>()
  remembered.set(docs, ofDocs)
  const places = ofDocs.get(column)
  if (places !== undefined) return places
  const found = placesAmong(column, docs)
  ofDocs.set(column, found)
  kept.add(found)
  return found
}

const rememberedBrands = new WeakMap<Docs, BrandFacet>()

function brandsIn(column: Column, found: Matches): BrandFacet {
  if ('bits' in found) return mostFrequent(brandsInSet(column, found.bits))
  if (!found.kept) return mostFrequent(brandsInList(column, found.docs, found.total))
  const known = rememberedBrands.get(found.docs)
  if (known !== undefined) return known
  const brands = mostFrequent(brandsInList(column, found.docs, found.total))
  rememberedBrands.set(found.docs, brands)
  kept.add(brands.places)
  return brands
}

/** Brands in the order of their names, and how many offers each has. */
interface BrandCounts {
  readonly places: number[]
  readonly counts: number[]
}

function mostFrequent({ places, counts }: BrandCounts): BrandFacet {
  const most = highestFirst(counts, maxBrands)
  return { places: most.map((at) => places[at] as number), total: places.length }
}

/**
 * Offers of one brand name are neighbours, so the list has one run for each. Names that differ only in case are
 * one value in several combinations.
 */
function brandsInList(column: Column, docs: Docs, total: number): BrandCounts {
  const { codes } = column
  const places: number[] = []
  const counts: number[] = []
  let begin = 0
  for (let at = 1; at <= total; at++) {
    const code = codes[docs[begin] as number] as number
    if (at < total && codes[docs[at] as number] === code) continue
    const place = brandOf(column, code)
    if (places.at(-1) !== place) {
      places.push(place)
      counts.push(0)
    }
    counts[counts.length - 1] = (counts.at(-1) as number) + at - begin
    begin = at
  }
  return { places, counts }
}

/**
 * Likewise in a set: behind each brand found, the search goes on after the last offer of that brand. Brands and docs
 * are in the same order and each doc has one brand, so a brand has the docs from its start to that of the next one.
 */
function brandsInSet(column: Column, bits: Bits): BrandCounts {
  const { starts } = column.docs
  const places: number[] = []
  const counts: number[] = []
  let doc = nextBit(bits, 0)
  let place = doc < 0 ? 0 : brandOf(column, column.codes[doc] as number)
  while (doc >= 0) {
    while ((starts[place + 1] as number) <= doc) place += 1
    const next = starts[place + 1] as number
    places.push(place)
    counts.push(countBetween(bits, doc, next))
    doc = nextBit(bits, next)
  }
  return { places, counts }
}

/** An offer has one brand name, so a combination has one value. */
function brandOf({ valuesOf: { starts, numbers } }: Column, code: number): number {
  return numbers[starts[code] as number] as number
}

/**
 * A set may hold a large part of all docs. Then checking the first few docs of each value finds nearly every value.
 * If that would take longer than reading the docs of the set, or leaves a value in doubt, those docs are read.
 */
function valuesIn(
  { scratch, size }: SearchIndex,
  column: Column,
  found: Extract<Matches, { readonly bits: Bits }>,
): Places {
  const { bits, total } = found
  const looks = size / total
  const quick = column.size * looks < total ? valuesByLooks(column, bits, 8 * looks) : undefined
  if (quick !== undefined) return quick
  // Cached, because several facets need it.
  if (found.listed === undefined) {
    found.listed = scratch.docs()
    docsIn(bits, found.listed)
  }
  return placesAmong(column, found.listed, total)
}

/** The values in the set, by checking about `most` docs of each; undefined if that does not suffice. */
function valuesByLooks(column: Column, bits: Bits, most: number): Places | undefined {
  const places: number[] = []
  for (let place = 0; place < column.size; place++) {
    const docs = docsAt(column, place)
    if (isAmong(docs, bits, most)) places.push(place)
    else if (docs.length > most) return undefined
  }
  return places
}

/** Looks at up to `most` docs, evenly spaced: what a text finds lies close together. */
function isAmong(docs: Docs, bits: Bits, most: number): boolean {
  const step = Math.max(1, docs.length / most)
  for (let at = 0; at < docs.length; at += step) {
    if (hasBit(bits, docs[Math.floor(at)] as number)) return true
  }
  return false
}
