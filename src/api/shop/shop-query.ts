import { goods, kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { type AmountKind, amountKinds } from '../../catalog/search/filters.ts'
import {
  country,
  dollars,
  oneOf,
  type Param,
  question,
  searchName,
  wholeNumber,
} from '../../catalog/search/params.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { Refusal } from '../../lib/refusal.ts'

const sorts = ['match', 'low', 'high'] as const
export type Sort = (typeof sorts)[number]

/** A search by a person. Every field may be absent. */
export interface ShopQuery {
  /** Absent: the first kind with results. */
  readonly kind?: Kind | undefined
  readonly q?: string | undefined
  /** The country of use, as ISO 3166-1 alpha-2. Chosen by the visitor, never guessed. */
  readonly country?: string | undefined
  readonly brand?: string | undefined
  readonly category?: string | undefined
  readonly region?: string | undefined
  /** Bounds of the face value, in US dollars. */
  readonly min?: number | undefined
  readonly max?: number | undefined
  /** Offers of a fixed value, or those whose value the buyer chooses. */
  readonly amount?: AmountKind | undefined
  readonly sort?: Sort | undefined
  /** Counted from 1. */
  readonly page?: number | undefined
}

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
  const kind = read('kind', oneOf(kinds))
  const query: ShopQuery = {
    kind,
    q: read('q', question),
    country: read('country', country),
    brand: read('brand', brandIn(sold, kind)),
    category: read('category', oneOf(categoriesIn(sold, kind))),
    region: read('region', oneOf(regionsIn(sold))),
    min: read('min', dollars),
    max: read('max', dollars),
    amount: read('amount', oneOf(amountKinds)),
    sort: read('sort', oneOf(sorts)),
    page: read('page', wholeNumber(1, maxPages)),
  }
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
