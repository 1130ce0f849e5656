import { type Bits, docsIn, hasBit, nextBit } from './bits.ts'
import { type Column, docsAt, type Places, placesAmong } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, type Matches, met, type Query } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

/** For each facet its values, as places in the column of that name. */
export interface Facets {
  readonly countries: Places
  readonly regions: Places
  readonly brandNames: Places
  readonly subTypes: Places
}

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
    brandNames: placesIn(index, index.brandNames, others('brand')),
    subTypes: placesIn(index, index.subTypes, others('subType')),
  }
}

function placesIn(index: SearchIndex, column: Column, found: Matches): Places {
  if ('docs' in found) {
    return found.kept ? known(column, found.docs) : placesAmong(column, found.docs, found.total)
  }
  if (column === index.brandNames && found.total > column.size) {
    return brandsIn(column, found.bits)
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

/** Offers of one brand name stand together, so from each one found the next brand is a leap away. */
function brandsIn(column: Column, bits: Bits): Places {
  const { codes, valuesOf, docs } = column
  const places: number[] = []
  let doc = nextBit(bits, 0)
  while (doc >= 0) {
    const place = valuesOf.numbers[valuesOf.starts[codes[doc] as number] as number] as number
    places.push(place)
    const last = docs.numbers[(docs.starts[place + 1] as number) - 1] as number
    doc = nextBit(bits, last + 1)
  }
  return places
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
