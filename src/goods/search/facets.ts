import { type Bits, docsIn, hasBit, nextBit } from './bits.ts'
import { type Column, docsAt, type Places, placesAmong } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, type Found, met, type Query } from './filters.ts'
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
 * one value to another (decisions 2).
 *
 * @param found what the whole query finds
 */
export function facetsAmong(index: SearchIndex, { clauses }: Query, found: Found): Facets {
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

function placesIn(index: SearchIndex, column: Column, found: Found): Places {
  if ('docs' in found) {
    return found.kept ? known(column, found.docs) : placesAmong(column, found.docs, found.total)
  }
  return column === index.brandNames ? brandsIn(column, found.bits) : valuesIn(index, column, found)
}

/**
 * The values among the docs of one filter, or of none, are worked out when first asked for and stay
 * true, since an index never changes. There are no more of them than values, and they go when their
 * index goes.
 */
const remembered = new WeakMap<Docs, Map<Column, Places>>()

function known(column: Column, docs: Docs): Places {
  const ofDocs = remembered.get(docs) ?? new Map<Column, Places>()
  remembered.set(docs, ofDocs)
  const places = ofDocs.get(column) ?? placesAmong(column, docs)
  ofDocs.set(column, places)
  return places
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

/** How far down the list of a value it is looked for in a set. */
const probesMax = 64

/**
 * A set may hold a great part of all docs. Then a few looks down the list of each value find nearly
 * every value; where one stays in doubt, the docs of the set are gone through.
 */
function valuesIn(
  { scratch }: SearchIndex,
  column: Column,
  { bits, total }: { readonly bits: Bits; readonly total: number },
): Places {
  const quick = column.values.length * probesMax < total ? valuesByProbes(column, bits) : undefined
  if (quick !== undefined) return quick
  const docs = scratch.docs()
  return placesAmong(column, docs, docsIn(bits, docs))
}

/** Undefined where the looks do not suffice to tell. */
function valuesByProbes(column: Column, bits: Bits): Places | undefined {
  const places: number[] = []
  for (let place = 0; place < column.values.length; place++) {
    const docs = docsAt(column, place)
    if (isAmong(docs, bits)) places.push(place)
    else if (docs.length > probesMax) return undefined
  }
  return places
}

function isAmong(docs: Docs, bits: Bits): boolean {
  const end = Math.min(docs.length, probesMax)
  for (let at = 0; at < end; at++) if (hasBit(bits, docs[at] as number)) return true
  return false
}
