import { wordsOf } from '../../lib/text.ts'
import { addDocs, type Bits, countOf, docsIn, hasBit, intersection, meet } from './bits.ts'
import { type Column, countAt, docsAt, listAt, placeIn, setAt } from './column.ts'
import { type Docs, keepListed } from './docs.ts'
import { faceValueClauses } from './face-value-clauses.ts'
import type { AmountKind } from './face-values.ts'
import type { SearchIndex } from './search-index.ts'
import { addFrom } from './terms.ts'
import { docsOfBrands, type TextMatch, textMatch } from './text.ts'

/** The filters of a search. An offer must meet all of them (docs/contributors/decisions/017). */
export interface Filters {
  /** A brand, operator or provider: the whole name or the beginnings of its words. */
  readonly brand?: string | undefined
  /** Free text. It also decides the order of the result. */
  readonly text?: string | undefined
  /** The offer's own country. */
  readonly country?: string | undefined
  readonly subType?: string | undefined
  /** The supplier's own word for a voucher. */
  readonly category?: string | undefined
  /** At least one of these. */
  readonly regions?: readonly string[] | undefined
  readonly multiCountry?: boolean | undefined
  /** Every one of these countries. */
  readonly covers?: readonly string[] | undefined
  readonly durationDays?: number | undefined
  /** Offers of a fixed value, or those whose value the buyer chooses. */
  readonly amount?: AmountKind | undefined
  /** Face value in USD: a fixed one must lie within the bounds, an open one overlap them. */
  readonly minUsd?: number | undefined
  readonly maxUsd?: number | undefined
}

/** One filter of a search, which can list its own docs or test those of another. */
export interface Clause {
  readonly own: keyof Filters
  /** An upper bound of how many docs meet it. */
  readonly most: number
  /** The docs that meet it, as a list that the index keeps. */
  readonly list?: Docs
  /** The same as a set. A clause with neither can only test. */
  readonly set?: () => Bits
  /** Copies those of the first `count` docs that meet it; `into` may be `docs`. Returns how many. */
  readonly keep: (docs: Docs, count: number, into: Docs) => number
}

/** A parsed search, to be answered with all its filters or, for facets, without one. */
export interface Query {
  readonly clauses: readonly Clause[]
  readonly text: TextMatch | undefined
}

/** The docs that some clauses find, as a list or as a set. */
export type Matches =
  /** `kept`: the index keeps this list, so the same query gives the same object again. */
  | { readonly total: number; readonly docs: Docs; readonly kept: boolean }
  | { readonly total: number; readonly bits: Bits; listed?: Docs }

export function queryOf(index: SearchIndex, filters: Filters): Query {
  index.scratch.begin()
  const text = filters.text === undefined ? undefined : textMatch(index, filters.text)
  const clauses = clausesOf(index, filters)
  if (text !== undefined) clauses.push(setClause('text', text.near, text.most))
  return { text, clauses: clauses.sort((one, other) => one.most - other.most) }
}

/** The docs that meet all filters, in the published order, even with a text. */
export function matching(index: SearchIndex, filters: Filters): Docs {
  const found = met(index, queryOf(index, filters).clauses)
  if ('docs' in found) return found.kept ? found.docs : found.docs.slice(0, found.total)
  const docs = new Uint32Array(found.total)
  docsIn(found.bits, docs)
  return docs
}

/**
 * The docs that meet all clauses. The smallest clause lists its docs and the others test them, the smallest first.
 * If even the smallest has many docs, intersecting sets is faster, because it takes 32 docs at a time.
 */
export function met(index: SearchIndex, clauses: readonly Clause[]): Matches {
  const { scratch, size, all } = index
  const [first, ...rest] = clauses
  if (first === undefined) return { docs: all, total: size, kept: true }
  if (rest.length === 0) return alone(index, first)
  const sets = first.most > size / 8 ? clauses.flatMap(({ set }) => set?.() ?? []) : []
  if (sets.length === clauses.length) return counted(intersection(sets, scratch.bits()))
  const [second] = rest
  if (rest.length === 1 && first.list && second?.list)
    return paired(index, { list: first.list, keep: second.keep, other: second.list })
  if (first.list) return tested({ docs: first.list, total: first.list.length }, rest, index)
  if (!first.set) return tested({ docs: all, total: size }, clauses, index)
  const docs = scratch.docs()
  return tested({ docs, total: docsIn(first.set(), docs) }, rest, index)
}

/** The docs of a single clause. A list is preferred to a set: it is kept, and facets cache what they find in it. */
function alone(index: SearchIndex, clause: Clause): Matches {
  const { list, set } = clause
  if (list) return { docs: list, total: list.length, kept: true }
  if (set) return counted(set())
  return tested({ docs: index.all, total: index.size }, [clause], index)
}

function paired(
  { pairs }: SearchIndex,
  { list, keep, other }: Pick<Clause, 'keep'> & Record<'list' | 'other', Docs>,
): Matches {
  const docs = pairs.docsIn(list, other, () => {
    const both = new Uint32Array(list.length)
    return both.slice(0, keep(list, list.length, both))
  })
  return { docs, total: docs.length, kept: true }
}

function counted(bits: Bits): Matches {
  return { bits, total: countOf(bits) }
}

/** The found docs as a set. */
export function setOf({ scratch }: SearchIndex, found: Matches): Bits {
  if ('bits' in found) return found.bits
  const set = scratch.bits()
  addDocs(set, found.docs, found.total)
  return set
}

function tested(
  { docs, total }: { readonly docs: Docs; readonly total: number },
  clauses: readonly Clause[],
  { scratch }: SearchIndex,
): Matches {
  const left = scratch.docs()
  let count = total
  for (const [at, clause] of clauses.entries()) {
    count = clause.keep(at === 0 ? docs : left, count, left)
  }
  return { docs: left, total: count, kept: false }
}

function clausesOf(index: SearchIndex, filters: Filters): Clause[] {
  const { brand, country, subType, category, regions, covers = [], durationDays, amount } = filters
  const clauses: Clause[] = []
  const value = (own: keyof Filters, column: Column, ...values: readonly string[]) =>
    clauses.push(valueClause(index, own, { column, values }))
  if (filters.multiCountry) clauses.push(listClause('multiCountry', index.multiCountry))
  if (brand !== undefined) clauses.push(brandClause(index, brand))
  if (country !== undefined) value('country', index.countries, country)
  if (subType !== undefined) value('subType', index.subTypes, subType)
  if (category !== undefined) value('category', index.categories, category)
  if (regions !== undefined) value('regions', index.regions, ...regions)
  for (const code of covers) value('covers', index.covered, code)
  if (durationDays !== undefined) value('durationDays', index.durations, String(durationDays))
  if (amount !== undefined) value('amount', index.amounts, amount)
  return [...clauses, ...faceValueClauses(index, filters)]
}

function listClause(own: keyof Filters, list: Docs): Clause {
  const keep: Clause['keep'] = (docs, count, into) => keepListed(docs, count, list, into)
  return { own, most: list.length, list, keep }
}

export function setClause(own: keyof Filters, set: Bits, most: number): Clause {
  return {
    own,
    most,
    set: () => set,
    keep(docs, count, into) {
      let kept = 0
      for (let at = 0; at < count; at++) {
        const doc = docs[at] as number
        if (hasBit(set, doc)) into[kept++] = doc
      }
      return kept
    },
  }
}

/** Docs with any of these values of one field. */
export function valueClause(
  index: SearchIndex,
  own: keyof Filters,
  { column, values }: { readonly column: Column; readonly values: readonly string[] },
): Clause {
  const places = values.flatMap((value) => placeIn(column, value) ?? [])
  const [only = -1] = places
  if (places.length !== 1) return setOfValues(index, own, { column, places })
  return {
    own,
    most: countAt(column, only),
    list: docsAt(column, only),
    set: () => setAt(column, only),
    keep: (docs, count, into) => keepCodes({ docs, count, into }, column, only),
  }
}

function setOfValues(
  { scratch }: SearchIndex,
  own: keyof Filters,
  { column, places }: { readonly column: Column; readonly places: readonly number[] },
): Clause {
  const set = scratch.bits()
  for (const place of places) addDocs(set, docsAt(column, place))
  return setClause(own, set, countOf(set))
}

/** Those of the docs that have the value: one small lookup for each doc. */
function keepCodes(
  { docs, count, into }: { readonly docs: Docs; readonly count: number; readonly into: Docs },
  { codes, codesOf, marks }: Column,
  place: number,
): number {
  const accepted = marks.codes
  const wanted = listAt(codesOf, place)
  for (const code of wanted) accepted[code] = 1
  let kept = 0
  for (let at = 0; at < count; at++) {
    // Without a branch: the processor could not predict it, and mispredictions cost more.
    const doc = docs[at] as number
    into[kept] = doc
    kept += accepted[codes[doc] as number] as number
  }
  for (const code of wanted) accepted[code] = 0
  return kept
}

/** Matches prefixes of words: "ama" finds "Amazon", "mazon" finds nothing (docs/contributors/decisions/017). */
function brandClause(index: SearchIndex, value: string): Clause {
  const brands = brandsNamed(index, value)
  const set = docsOfBrands(index, brands)
  return setClause('brand', set, countOf(set))
}

function brandsNamed({ names, brandWords, scratch }: SearchIndex, value: string): Bits {
  const brands = scratch.brandBits()
  const words = wordsOf(value)
  for (const [at, word] of words.entries()) {
    const begun = at === 0 ? brands : scratch.brandBits()
    addFrom(brandWords, word, begun)
    if (begun !== brands) meet(brands, begun)
  }
  const named = placeIn(names, value)
  if (named !== undefined) addDocs(brands, listAt(names.codesOf, named))
  return brands
}
