import { kinds } from '../../catalog/good.ts'
import { goods } from '../../catalog/kinds.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import type { RateTable } from '../../catalog/ports.ts'
import { type Found, type FoundKind, findFor } from '../../catalog/question/find.ts'
import type { Indexes, Part } from '../../catalog/question/reading.ts'
import { brandLexicon } from '../../catalog/search/brand-lexicon.ts'
import {
  type AmountKind,
  amountKinds,
  type Band,
  bands,
  type Filters,
  without,
} from '../../catalog/search/filters.ts'
import {
  country,
  dollars,
  oneOf,
  type Param,
  question,
  searchName,
  type ValuesOf,
  wholeNumber,
} from '../../catalog/search/params.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { FieldName } from '../../catalog/search/stock.ts'
import { Refusal } from '../../lib/refusal.ts'
import { oneLine } from '../../lib/text.ts'

/** How many offers a page shows. */
export const shopPageSize = 24

/** A value to narrow a search to, and how many offers it finds with all other fields unchanged. */
export interface FacetValue<T = string> {
  readonly value: T
  readonly offers: number
}

/** The values of each facet, those with the most offers first. */
interface ShopFacets {
  readonly brands: readonly FacetValue[]
  readonly categories: readonly FacetValue[]
  readonly regions: readonly FacetValue[]
  readonly bands: readonly FacetValue<Band>[]
  readonly amounts: readonly FacetValue<AmountKind>[]
}

/** A part of the words that was understood, and the words without it. */
export interface UnderstoodPart {
  readonly part: Part
  /** The name of the brand as the catalog writes it. */
  readonly brand?: string | undefined
  readonly without: string | undefined
}

/** The results of a search for a page. */
export interface ShopAnswer {
  readonly kind: Kind
  readonly total: number
  /** At least 1, even if nothing was found. */
  readonly pages: number
  readonly page: number
  readonly offers: readonly Offer[]
  /** How many offers of each kind the same words and the same country find. */
  readonly kindCounts: Readonly<Record<Kind, number>>
  readonly facets: ShopFacets
  readonly understood: readonly UnderstoodPart[]
  /** Words that the result does not take into account. */
  readonly leftOut: readonly string[]
  /** If nothing was found: searches with one field or one part of the words less, each of which finds something. */
  readonly ways: readonly ShopQuery[]
}

interface Selling {
  readonly sold: Indexes
  readonly rates: RateTable | undefined
}

/** Answers a search over the offers that are sold now, as the search of the APIs does, with facets and their counts. */
export function shopSearch(selling: Selling, query: ShopQuery): ShopAnswer {
  const found = foundFor(selling, query)
  const kind = query.kind ?? kindOf(query, found)
  const own = found.kinds.find((one) => one.kind === kind)
  const index = selling.sold[kind]
  const narrowed = narrowedBy(query)
  const total = own === undefined ? 0 : index.count({ ...own.filters, ...narrowed })
  const page = query.page ?? 1
  return {
    kind,
    total,
    pages: Math.max(1, Math.ceil(total / shopPageSize)),
    page,
    offers: own === undefined ? [] : offersOn(index, own, { query, narrowed, page }),
    kindCounts: countsOfKinds(selling, query, found),
    facets: own === undefined ? noFacets : facetsOf(index, kind, { ...own.filters, ...narrowed }),
    understood: understoodIn(selling.sold, kind, found),
    leftOut: found.leftOut,
    ways: total === 0 ? waysFrom(selling, query, found) : [],
  }
}

/** The likeliest kind that the words find something of; without words the first kind that has something. */
function kindOf({ q }: ShopQuery, { kinds: found, wish }: Found): Kind {
  const own = found.map(({ kind }) => kind)
  const [likeliest] = q === undefined ? kinds.filter((kind) => own.includes(kind)) : own
  return likeliest ?? wish.kinds[0] ?? 'voucher'
}

function foundFor({ sold, rates }: Selling, { q, country, kind }: ShopQuery): Found {
  return findFor(sold, { query: q, country, kind }, rates)
}

/** The fields of a search that only the website has. */
function narrowedBy({ brand, category, region, min, max, amount }: ShopQuery): Filters {
  return {
    brand,
    subType: category,
    regions: region === undefined ? undefined : [region],
    minUsd: min,
    maxUsd: max,
    amount,
  }
}

interface Shown {
  readonly query: ShopQuery
  readonly narrowed: Filters
  readonly page: number
}

/** The likeliest first if words were given. Without words, or by value, in an order of the whole list. */
function offersOn(
  index: SearchIndex,
  own: FoundKind,
  { query: { q, sort = 'match' }, narrowed, page }: Shown,
): readonly Offer[] {
  const offset = (page - 1) * shopPageSize
  if (q !== undefined && sort === 'match') {
    return own.first(offset + shopPageSize, narrowed).slice(offset)
  }
  const filters = { ...own.filters, ...narrowed }
  return index.search(filters, { offset, limit: shopPageSize }, sort).offers
}

function countsOfKinds(
  selling: Selling,
  query: ShopQuery,
  found: Found,
): Readonly<Record<Kind, number>> {
  const counts = kinds.map((kind) => {
    const own = found.kinds.find((one) => one.kind === kind)
    return [kind, own?.total ?? foundFor(selling, { ...query, kind }).total]
  })
  return Object.fromEntries(counts)
}

const noFacets: ShopFacets = { brands: [], categories: [], regions: [], bands: [], amounts: [] }

function facetsOf(index: SearchIndex, kind: Kind, filters: Filters): ShopFacets {
  const { isByCoverage } = goods[kind]
  const open = (field: FieldName, own: keyof Filters) =>
    index.counts(field, without(filters, own)).map(([value, offers]) => ({ value, offers }))
  return {
    brands: open('brandName', 'brand'),
    categories: isByCoverage ? [] : open('subType', 'subType'),
    regions: isByCoverage ? open('region', 'regions') : [],
    bands: counted(bands, ({ min, max }) => index.count({ ...filters, minUsd: min, maxUsd: max })),
    amounts: isByCoverage
      ? []
      : counted(amountKinds, (amount) => index.count({ ...filters, amount })),
  }
}

function counted<T>(values: readonly T[], count: (value: T) => number): FacetValue<T>[] {
  return values.map((value) => ({ value, offers: count(value) })).filter(({ offers }) => offers > 0)
}

function understoodIn(sold: Indexes, kind: Kind, { wish, unused }: Found): UnderstoodPart[] {
  const { parts, text } = wish.reading
  return parts
    .filter((part) => !unused.includes(part))
    .map((part) => {
      const [brand] = part.type === 'brand' ? part.brands[kind] : []
      const rest = oneLine(`${text.slice(0, part.from)} ${text.slice(part.to)}`)
      return {
        part,
        brand: brand === undefined ? undefined : brandLexicon(sold[kind]).nameOf(brand),
        without: rest === '' ? undefined : rest,
      }
    })
}

/** The fields that a visitor would rather leave out, the first first. */
const optional = [
  'amount',
  'min',
  'max',
  'category',
  'region',
  'brand',
  'country',
] as const satisfies readonly ShopField[]

function waysFrom(selling: Selling, query: ShopQuery, found: Found): ShopQuery[] {
  const fields = optional.filter((field) => query[field] !== undefined)
  const less = [
    ...fields.map((field) => ({ ...query, [field]: undefined })),
    ...understoodIn(selling.sold, query.kind ?? 'voucher', found).flatMap(({ without: q }) =>
      q === undefined ? [] : [{ ...query, q }],
    ),
  ]
  return less.map((one) => ({ ...one, page: undefined })).filter((one) => findsSome(selling, one))
}

function findsSome(selling: Selling, query: ShopQuery): boolean {
  return foundFor(selling, query).kinds.some(
    ({ kind, filters }) => selling.sold[kind].count({ ...filters, ...narrowedBy(query) }) > 0,
  )
}

const sorts = ['match', 'low', 'high'] as const
export type Sort = (typeof sorts)[number]

/** The fields of a search by a person. Every one may be absent. */
function shopParams(sold: Readonly<Record<Kind, SearchIndex>>, kind: Kind | undefined) {
  return {
    /** Absent: the first kind with results. */
    kind: oneOf(kinds),
    q: question,
    /** Where it is used. Chosen by the visitor, never guessed. */
    country,
    brand: brandIn(sold, kind),
    category: oneOf(categoriesIn(sold, kind)),
    region: oneOf(regionsIn(sold)),
    /** Bounds of the face value. */
    min: dollars,
    max: dollars,
    amount: oneOf(amountKinds),
    sort: oneOf(sorts),
    page: wholeNumber(1, maxPages),
  }
}

export type ShopQuery = ValuesOf<ReturnType<typeof shopParams>>
export type ShopField = keyof ShopQuery

/** An invalid text in a field, and what was probably meant. */
export interface FieldFault {
  readonly given: string
  readonly didYouMean?: string | undefined
}

export interface ReadShopQuery {
  readonly query: ShopQuery
  readonly faults: ReadonlyMap<ShopField, FieldFault>
}

const maxPages = 100_000

/**
 * Reads a search, field by field. Faults are reported for each field, and the other fields keep what was typed. Empty
 * fields count as absent, and unknown names are ignored, because links from other sites add their own.
 */
export function readShopQuery(
  given: { get(name: string): string | null },
  sold: Readonly<Record<Kind, SearchIndex>>,
): ReadShopQuery {
  const faults = new Map<ShopField, FieldFault>()
  const read = <T>(field: ShopField, param: Param<T>): T | undefined => {
    const typed = given.get(field)?.trim() ?? ''
    if (typed === '') return undefined
    try {
      return param.read(field, typed)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      faults.set(field, { given: typed, didYouMean: meantBy(error) })
      return undefined
    }
  }
  const params = shopParams(sold, read('kind', oneOf(kinds)))
  const query: ShopQuery = Object.fromEntries(
    Object.entries(params).map(([name, param]) => [
      name,
      read(name as ShopField, param as Param<unknown>),
    ]),
  )
  const { min, max } = query
  if (min !== undefined && max !== undefined && min > max) {
    faults.set('max', { given: String(max), didYouMean: String(min) })
    return { query: { ...query, max: undefined }, faults }
  }
  return { query, faults }
}

/**
 * A brand as the catalog writes it, so that every spelling is the same search; else in the form for comparing names.
 */
function brandIn(sold: Readonly<Record<Kind, SearchIndex>>, kind: Kind | undefined): Param<string> {
  const asked = kind === undefined ? kinds : [kind]
  const read: Param<string>['read'] = (name, value) => {
    const compared = searchName.read(name, value)
    const [written] = asked.flatMap((each) => sold[each].spelled('brandName', value) ?? [])
    return written ?? compared
  }
  return { ...searchName, read }
}

/** All countries for which anything is sold. */
export function countriesIn(sold: Readonly<Record<Kind, SearchIndex>>): readonly string[] {
  return [
    ...new Set(
      kinds.flatMap((kind) => [...sold[kind].values('country'), ...sold[kind].values('covers')]),
    ),
  ]
}

/** The sub-types on sale, and the published ones, which are valid even if the catalog has none of them. */
function categoriesIn(
  sold: Readonly<Record<Kind, SearchIndex>>,
  kind: Kind | undefined,
): readonly string[] {
  const asked = kind === undefined ? kinds : [kind]
  const found = asked.flatMap((each) => sold[each].values('subType'))
  return [...new Set([...found, ...(kind ? goods[kind].subTypes : [])])]
}

function regionsIn(sold: Readonly<Record<Kind, SearchIndex>>): readonly string[] {
  return [...new Set(kinds.flatMap((kind) => sold[kind].values('region')))]
}

function meantBy({ details }: Refusal): string | undefined {
  const { didYouMean } = (details.extra ?? {}) as { readonly didYouMean?: string | number }
  return didYouMean === undefined ? undefined : String(didYouMean)
}
