import { goods } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { type AmountKind, amountKinds, type Band, bands } from '../../catalog/search/face-values.ts'
import { type Filters, without } from '../../catalog/search/filters.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { FieldName } from '../../catalog/search/stock.ts'

/** A value to narrow a search to, and how many offers it finds with all other fields unchanged. */
export interface FacetValue<T = string> {
  readonly value: T
  readonly offers: number
}

export interface ShopFacets {
  readonly countries: readonly FacetValue[]
  readonly brands: readonly FacetValue[]
  readonly categories: readonly FacetValue[]
  readonly regions: readonly FacetValue[]
  readonly bands: readonly FacetValue<Band>[]
  readonly amounts: readonly FacetValue<AmountKind>[]
}

/** The most values that are listed: no page shows more. There are fewer countries. */
const maxValues = 250

/**
 * The values of each facet, with their counts when all *other* fields apply, so that a visitor can switch from one
 * value to another. Values with the most offers come first. The number of brands is limited, but the chosen one is
 * included.
 */
export function shopFacets(index: SearchIndex, kind: Kind, filters: Filters): ShopFacets {
  const { isByCoverage } = goods[kind]
  const open = (field: FieldName, own: keyof Filters) =>
    index
      .counts(field, without(filters, own))
      .slice(0, maxValues)
      .map(([value, offers]) => ({ value, offers }))
  return {
    countries: isByCoverage ? open('covers', 'covers') : open('country', 'country'),
    brands: brandsOf(index, open('brandName', 'brand'), filters),
    categories: isByCoverage ? [] : open('subType', 'subType'),
    regions: isByCoverage ? open('region', 'regions') : [],
    bands: counted(bands, ({ min, max }) => index.count({ ...filters, minUsd: min, maxUsd: max })),
    amounts: isByCoverage
      ? []
      : counted(amountKinds, (amount) => index.count({ ...filters, amount })),
  }
}

/** A chosen brand that is not among the largest is counted among its own offers. */
function brandsOf(index: SearchIndex, most: FacetValue[], filters: Filters): FacetValue[] {
  const { brand } = filters
  if (brand === undefined || most.some(({ value }) => value === brand)) return most
  const own = index.counts('brandName', filters).filter(([value]) => value === brand)
  return [...most, ...own.map(([value, offers]) => ({ value, offers }))]
}

function counted<T>(values: readonly T[], count: (value: T) => number): FacetValue<T>[] {
  return values.map((value) => ({ value, offers: count(value) })).filter(({ offers }) => offers > 0)
}
