import { goods } from '../../catalog/kinds.ts'
import { type Kind, kinds } from '../../catalog/offer.ts'
import type { RateTable } from '../../catalog/ports.ts'
import { findFor, type Matches } from '../../catalog/question/find.ts'
import type { Indexes } from '../../catalog/question/reading.ts'
import { brandLexicon } from '../../catalog/search/brand-lexicon.ts'
import { amountKinds, bands, type Filters, without } from '../../catalog/search/filters.ts'
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

export const shopPageSize = 24

interface Selling {
  readonly sold: Indexes
  readonly rates: RateTable | undefined
}

/** Finds no offer. */
const nothing: Filters = { none: [{}] }

export type ShopAnswer = ReturnType<typeof shopSearch>

export function shopSearch(selling: Selling, query: ShopQuery) {
  const matches = matchesFor(selling, query)
  const kind = query.kind ?? likeliestKind(query, matches)
  const own = matches.kinds.find((one) => one.kind === kind)
  const index = selling.sold[kind]
  const filters = { ...(own?.filters ?? nothing), ...narrowedBy(query) }
  const total = index.count(filters)
  return {
    kind,
    total,
    pages: Math.max(1, Math.ceil(total / shopPageSize)),
    page: query.page ?? 1,
    offers: own === undefined ? [] : offersOn(index, own, query),
    kindCounts: countsOfKinds(selling, query, matches),
    facets: facetsOf(index, kind, filters),
    understood: understoodIn(selling.sold, kind, matches),
    /** Words that the result does not take into account. */
    leftOut: matches.leftOut,
  }
}

function likeliestKind({ q }: ShopQuery, { kinds: kindMatches, wish }: Matches): Kind {
  const own = kindMatches.map(({ kind }) => kind)
  const [likeliest] = q === undefined ? kinds.filter((kind) => own.includes(kind)) : own
  return likeliest ?? wish.kinds[0] ?? 'voucher'
}

function matchesFor({ sold, rates }: Selling, { q, country, kind }: ShopQuery): Matches {
  return findFor(sold, { query: q, country, kind }, rates)
}

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

/** The likeliest first if words were given. Without words, or by value, in an order of the whole list. */
function offersOn(index: SearchIndex, own: Matches['kinds'][number], query: ShopQuery) {
  const { q, sort = 'match', page = 1 } = query
  const offset = (page - 1) * shopPageSize
  if (q !== undefined && sort === 'match') {
    return own.first(offset + shopPageSize, narrowedBy(query)).slice(offset)
  }
  const filters = { ...own.filters, ...narrowedBy(query) }
  return index.search(filters, { offset, limit: shopPageSize }, sort).offers
}

function countsOfKinds(
  selling: Selling,
  query: ShopQuery,
  matches: Matches,
): Readonly<Record<Kind, number>> {
  const counts = kinds.map((kind) => {
    const own = matches.kinds.find((one) => one.kind === kind)
    return [kind, own?.total ?? matchesFor(selling, { ...query, kind }).total]
  })
  return Object.fromEntries(counts)
}

/** A value to narrow a search to, and how many offers it finds with all other fields unchanged. */
export interface FacetValue<T = string> {
  readonly value: T
  readonly offers: number
}

function facetsOf(index: SearchIndex, kind: Kind, filters: Filters) {
  const { isByCoverage } = goods[kind]
  const countsOf = (field: FieldName, own: keyof Filters): readonly FacetValue[] =>
    index.counts(field, without(filters, own)).map(([value, offers]) => ({ value, offers }))
  return {
    brands: countsOf('brandName', 'brand'),
    categories: isByCoverage ? [] : countsOf('subType', 'subType'),
    regions: isByCoverage ? countsOf('region', 'regions') : [],
    bands: counted(bands, ({ min, max }) => index.count({ ...filters, minUsd: min, maxUsd: max })),
    amounts: isByCoverage
      ? []
      : counted(amountKinds, (amount) => index.count({ ...filters, amount })),
  }
}

function counted<T>(values: readonly T[], count: (value: T) => number): readonly FacetValue<T>[] {
  return values.map((value) => ({ value, offers: count(value) })).filter(({ offers }) => offers > 0)
}

export type UnderstoodPart = ShopAnswer['understood'][number]

function understoodIn(sold: Indexes, kind: Kind, { wish, unused }: Matches) {
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

export const sorts = ['match', 'low', 'high'] as const

function shopParams(sold: Indexes, kind: Kind | undefined) {
  const all = (field: FieldName, of: readonly Kind[] = kinds) => valuesIn(sold, field, of)
  const own = kind === undefined ? kinds : [kind]
  return {
    /** Absent: the first kind with results. */
    kind: oneOf(kinds),
    q: question,
    /** Where it is used. Chosen by the visitor, never guessed. */
    country,
    brand: brandIn(sold, own),
    // The published sub-types are valid even if the catalog has none of them.
    category: oneOf([...all('subType', own), ...(kind ? goods[kind].subTypes : [])]),
    region: oneOf(all('region')),
    /** Bounds of the face value. */
    min: dollars,
    max: dollars,
    amount: oneOf(amountKinds),
    sort: oneOf(sorts),
    page: wholeNumber(1, 100_000),
  }
}

export type ShopQuery = ValuesOf<ReturnType<typeof shopParams>>
export type ShopField = keyof ShopQuery

export interface FieldFault {
  readonly typed: string
  readonly didYouMean?: string | undefined
}

export type ReadShopQuery = ReturnType<typeof readShopQuery>

/** Unknown names are ignored, because links from other sites add their own. */
export function readShopQuery(searchParams: { get(name: string): string | null }, sold: Indexes) {
  const faults = new Map<ShopField, FieldFault>()
  const readField = <T>(field: ShopField, param: Param<T>): T | undefined => {
    const typed = searchParams.get(field)?.trim() ?? ''
    if (typed === '') return undefined
    try {
      return param.parse(field, typed)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      faults.set(field, { typed, didYouMean: meantBy(error) })
      return undefined
    }
  }
  const params = shopParams(sold, readField('kind', oneOf(kinds)))
  const query: ShopQuery = Object.fromEntries(
    Object.entries(params).map(([name, param]) => [
      name,
      readField(name as ShopField, param as Param<unknown>),
    ]),
  )
  const { min, max } = query
  if (min !== undefined && max !== undefined && min > max) {
    faults.set('max', { typed: String(max), didYouMean: String(min) })
    return { query: { ...query, max: undefined }, faults }
  }
  return { query, faults }
}

/** So that every spelling of a brand is the same search. */
function brandIn(sold: Indexes, of: readonly Kind[]): Param<string> {
  return {
    ...searchName,
    parse(name, value) {
      const compared = searchName.parse(name, value)
      const [written] = of.flatMap((each) => sold[each].spelled('brandName', value) ?? [])
      return written ?? compared
    },
  }
}

export function countriesIn(sold: Indexes): readonly string[] {
  return [...new Set([...valuesIn(sold, 'country', kinds), ...valuesIn(sold, 'covers', kinds)])]
}

function valuesIn(sold: Indexes, field: FieldName, of: readonly Kind[]): readonly string[] {
  return [...new Set(of.flatMap((each) => sold[each].values(field)))]
}

function meantBy({ details }: Refusal): string | undefined {
  const { didYouMean } = (details.extra ?? {}) as { readonly didYouMean?: string | number }
  return didYouMean === undefined ? undefined : String(didYouMean)
}
