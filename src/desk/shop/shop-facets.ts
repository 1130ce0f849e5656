import type { Kind } from '../../goods/offer.ts'
import { countsAmong } from '../../goods/search/column.ts'
import type { Docs } from '../../goods/search/docs.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import type { AmountKind, ShopQuery } from './shop-query.ts'

/** A value to narrow a search to, and how many offers it would find with all other fields as they are. */
export interface FacetValue<T = string> {
  readonly value: T
  readonly offers: number
}

/** A range of face values in US dollars; without `max` it has no end. */
interface Band {
  readonly min: number
  readonly max?: number
}

export interface ShopFacets {
  readonly countries: readonly FacetValue[]
  readonly brands: readonly FacetValue[]
  readonly categories: readonly FacetValue[]
  readonly regions: readonly FacetValue[]
  readonly bands: readonly FacetValue<Band>[]
  readonly amounts: readonly FacetValue<AmountKind>[]
}

/** Where shelves of gift cards have their steps. */
const bands: readonly Band[] = [
  { min: 0, max: 10 },
  { min: 10, max: 25 },
  { min: 25, max: 50 },
  { min: 50, max: 100 },
  { min: 100 },
]

/**
 * For each facet its values and their counts when all *other* fields apply, so that a visitor can
 * switch from one value to another.
 *
 * @param docsWithout what the search finds with these fields left open
 */
export function shopFacets(
  index: SearchIndex,
  kind: Kind,
  docsWithout: (fields: Partial<ShopQuery>) => Docs,
): ShopFacets {
  const isEsim = kind === 'esim'
  const places = isEsim ? index.covered : index.countries
  return {
    countries: counted(countsAmong(places, docsWithout({ country: undefined }))),
    brands: counted(countsAmong(index.brandNames, docsWithout({ brand: undefined }))),
    categories: isEsim
      ? []
      : counted(countsAmong(index.subTypes, docsWithout({ category: undefined }))),
    regions: isEsim ? counted(countsAmong(index.regions, docsWithout({ region: undefined }))) : [],
    bands: bandsAmong(index, docsWithout({ min: undefined, max: undefined })),
    amounts: isEsim ? [] : amountsAmong(index, docsWithout({ amount: undefined })),
  }
}

function counted(counts: readonly (readonly [string, number])[]): FacetValue[] {
  return counts.map(([value, offers]) => ({ value, offers }))
}

function bandsAmong({ faceUsd }: SearchIndex, docs: Docs): FacetValue<Band>[] {
  const meets = (doc: number, { min, max = Number.POSITIVE_INFINITY }: Band) =>
    (faceUsd.max[doc] as number) >= min && (faceUsd.min[doc] as number) <= max
  return bands
    .map((value) => ({ value, offers: docs.filter((doc) => meets(doc, value)).length }))
    .filter(({ offers }) => offers > 0)
}

function amountsAmong({ faceUsd }: SearchIndex, docs: Docs): FacetValue<AmountKind>[] {
  let open = 0
  for (const doc of docs) if ((faceUsd.min[doc] as number) < (faceUsd.max[doc] as number)) open += 1
  const amounts = [
    { value: 'fixed', offers: docs.length - open },
    { value: 'open', offers: open },
  ] as const
  return amounts.filter(({ offers }) => offers > 0)
}
