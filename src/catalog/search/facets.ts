import { type Bits, countBetween, docsIn, hasBit, nextBit } from './bits.ts'
import { type Column, docsAt, type Places, placesAmong } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, type Matches, met, type Query } from './filters.ts'
import { highestFirst } from './highest.ts'
import type { SearchIndex } from './search-index.ts'

/** For each facet its values, as places in the column of that name. */
export interface Facets {
  readonly countries: Places
  readonly regions: Places
  readonly brands: BrandFacet
  readonly subTypes: Places
}

/** There may be thousands of brands, of which no caller reads all. */
interface BrandFacet {
  /** Those with the most offers, the most first; of equal ones in the order of their names. */
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
 * The values among the docs of one filter, or of none, are worked out when first asked for and stay
 * true, since an index never changes. There are no more of them than values, and they go when their
 * index goes.
 */
const remembered = new WeakMap<Docs, Map<Column, Places>>()
const kept = new WeakSet<Places>()

/** Whether the same question brings the same places, so that what is made of them is worth keeping. */
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
 * Offers of one brand name stand together, so the list has one run of each. Names that differ in case
 * alone are one value in several combinations.
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

/** Likewise in a set: from each one found the next brand is a leap away. */
function brandsInSet(column: Column, bits: Bits): BrandCounts {
  const { starts, numbers } = column.docs
  const places: number[] = []
  const counts: number[] = []
  let doc = nextBit(bits, 0)
  while (doc >= 0) {
    const place = brandOf(column, column.codes[doc] as number)
    const next = (numbers[(starts[place + 1] as number) - 1] as number) + 1
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
 * A set may hold a great part of all docs. Then a few looks down the list of each value find nearly
 * every value; where they would take longer than the docs of the set, or leave one in doubt, those
 * are gone through.
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
  // Several facets ask for it.
  if (found.listed === undefined) {
    found.listed = scratch.docs()
    docsIn(bits, found.listed)
  }
  return placesAmong(column, found.listed, total)
}

/** Undefined where so many looks do not suffice to tell. */
function valuesByLooks(column: Column, bits: Bits, most: number): Places | undefined {
  const places: number[] = []
  for (let place = 0; place < column.size; place++) {
    const docs = docsAt(column, place)
    if (isAmong(docs, bits, most)) places.push(place)
    else if (docs.length > most) return undefined
  }
  return places
}

function isAmong(docs: Docs, bits: Bits, most: number): boolean {
  const end = Math.min(docs.length, most)
  for (let at = 0; at < end; at++) if (hasBit(bits, docs[at] as number)) return true
  return false
}
