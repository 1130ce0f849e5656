import { fold, wordsOf } from '../../primitives/text.ts'
import { docsIn, hasBit } from './bits.ts'
import type { Column } from './column.ts'
import { type Docs, intersect, unite } from './docs.ts'
import type { SearchIndex } from './search-index.ts'
import { listsFrom } from './terms.ts'
import { type TextMatch, textMatch } from './text.ts'

/** What an offer must be to be found. All of them hold together (decisions 2). */
export interface Filters {
  /** Only what can be bought now. */
  readonly sold?: boolean | undefined
  /** A brand, operator or provider: the whole name or the beginnings of its words. */
  readonly brand?: string | undefined
  /** Free text. It decides the order of the result too. */
  readonly text?: string | undefined
  /** The offer's own country. */
  readonly country?: string | undefined
  readonly subType?: string | undefined
  /** At least one of these. */
  readonly regions?: readonly string[] | undefined
  readonly multiCountry?: boolean | undefined
  /** Every one of these countries. */
  readonly covers?: readonly string[] | undefined
  readonly durationDays?: number | undefined
  /** Face value in USD: a fixed one lies within, an open one meets it (decisions 3). */
  readonly minUsd?: number | undefined
  readonly maxUsd?: number | undefined
}

/** Money compared after a conversion may differ in its last digits. */
const tolerance = 1e-6

/** One filter of a search, ready to give its offers or to test those of another. */
interface Clause {
  readonly own: keyof Filters
  /** No more docs than this have it. */
  readonly most: number
  /** The list itself where the index keeps one, so that the same filter gives the same object. */
  readonly docs: () => Docs
  readonly keep: (docs: Docs) => Docs
  /** Whether `docs` gives a list that the index keeps. */
  readonly kept: boolean
}

/** A search taken apart once, to be answered with all its filters or with all but one. */
export interface Query {
  readonly clauses: readonly Clause[]
  readonly text: TextMatch | undefined
}

export function queryOf(index: SearchIndex, filters: Filters): Query {
  const text = filters.text === undefined ? undefined : textMatch(index, filters.text)
  const clauses = [...clausesOf(index, filters), ...(text ? [textClause(text)] : [])]
  return { text, clauses: [...clauses, ...faceValue(index, filters)] }
}

/** The offers that meet all filters, in the published order, whatever the text. */
export function matching(index: SearchIndex, filters: Filters): Docs {
  return met(index, queryOf(index, filters).clauses).docs
}

/** The smallest filter gives its docs and the others only test them, the smallest first. */
export function met(index: SearchIndex, clauses: readonly Clause[]) {
  const [first, ...rest] = [...clauses].sort((one, other) => one.most - other.most)
  if (first === undefined) return { docs: index.all, kept: true }
  const docs = rest.reduce((left, clause) => clause.keep(left), first.docs())
  return { docs, kept: rest.length === 0 && first.kept }
}

function clausesOf(index: SearchIndex, filters: Filters): Clause[] {
  const { brand, country, subType, regions, covers = [], durationDays } = filters
  const all = index.all.length
  const clauses: Clause[] = []
  if (filters.sold && index.sold.length < all) clauses.push(listClause('sold', index.sold))
  if (filters.multiCountry) clauses.push(listClause('multiCountry', index.multiCountry))
  if (brand !== undefined) clauses.push(brandClause(index, brand))
  if (country !== undefined) clauses.push(valueClause('country', index.countries, [country]))
  if (subType !== undefined) clauses.push(valueClause('subType', index.subTypes, [subType]))
  if (regions !== undefined) clauses.push(valueClause('regions', index.regions, regions))
  for (const code of covers) clauses.push(valueClause('covers', index.covered, [code]))
  if (durationDays !== undefined) {
    clauses.push(valueClause('durationDays', index.durations, [String(durationDays)]))
  }
  return clauses
}

function listClause(own: keyof Filters, list: Docs): Clause {
  return {
    own,
    most: list.length,
    docs: () => list,
    keep: (docs) => intersect(docs, list),
    kept: true,
  }
}

/** Offers with any of these values of one field. */
function valueClause(own: keyof Filters, column: Column, values: readonly string[]): Clause {
  const entries = values.flatMap((value) => column.byKey.get(fold(value)) ?? [])
  const lists = entries.map(({ docs }) => docs)
  return {
    own,
    most: lists.reduce((sum, { length }) => sum + length, 0),
    docs: () => unite(lists, column.codes.length),
    keep: (docs) =>
      keepCodes(
        docs,
        column,
        entries.map(({ combos }) => combos),
      ),
    kept: lists.length === 1,
  }
}

/** The `brand` and `operator` rule (decisions 2): "ama" finds "Amazon", "mazon" finds nothing. */
function brandClause({ names, ofBrand, brandWords, offers }: SearchIndex, value: string): Clause {
  const size = names.combos.length
  const begun = wordsOf(value).map((word) => unite(listsFrom(brandWords, word), size))
  const byWords = begun.length === 0 ? [] : [begun.reduce(intersect)]
  const named = names.byKey.get(fold(value))?.combos ?? []
  const brands = unite([Uint32Array.from(named), ...byWords], size)
  const lists = Array.from(brands, (brand) => ofBrand[brand] ?? new Uint32Array(0))
  return {
    own: 'brand',
    most: lists.reduce((sum, { length }) => sum + length, 0),
    docs: () => unite(lists, offers.length),
    keep: (docs) => keepCodes(docs, names, [brands]),
    kept: lists.length === 1,
  }
}

function textClause({ near }: TextMatch): Clause {
  const docs = docsIn(near)
  return {
    own: 'text',
    most: docs.length,
    docs: () => docs,
    keep: (others) => others.filter((doc) => hasBit(near, doc)),
    kept: false,
  }
}

/** Has no list of its own, so it always tests what the others left. */
function faceValue({ all, faceUsd }: SearchIndex, { minUsd, maxUsd }: Filters): Clause[] {
  if (minUsd === undefined && maxUsd === undefined) return []
  const atLeast = (minUsd ?? 0) - tolerance
  const atMost = (maxUsd ?? Number.POSITIVE_INFINITY) + tolerance
  const { min, max } = faceUsd
  const keep = (docs: Docs) =>
    docs.filter((doc) => (max[doc] ?? Number.NaN) >= atLeast && (min[doc] ?? Number.NaN) <= atMost)
  const own = minUsd === undefined ? 'maxUsd' : 'minUsd'
  return [{ own, most: Number.POSITIVE_INFINITY, docs: () => keep(all), keep, kept: false }]
}

/** Those of the docs whose combination is among these: one small lookup for each doc. */
function keepCodes(docs: Docs, { codes, marks }: Column, lists: readonly Iterable<number>[]) {
  const accepted = marks.combos
  mark(accepted, lists, 1)
  const kept = new Uint32Array(docs.length)
  let count = 0
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at] ?? 0
    if (accepted[codes[doc] ?? 0] === 1) kept[count++] = doc
  }
  mark(accepted, lists, 0)
  return kept.subarray(0, count)
}

function mark(marks: Uint8Array, lists: readonly Iterable<number>[], as: 0 | 1): void {
  for (const list of lists) for (const code of list) marks[code] = as
}
