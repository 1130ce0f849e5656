import { goods } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { Column, Counts } from '../../catalog/search/column.ts'
import { type AmountKind, amountKinds, type Band, bands } from '../../catalog/search/face-values.ts'
import type { Filters } from '../../catalog/search/filters.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'

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

/** Counts the values of a column when the filters of one facet are left open. */
export type CountWithout = (column: Column, ...own: readonly (keyof Filters)[]) => Counts

/**
 * The values of each facet, with their counts when all *other* fields apply, so that a visitor can switch from one
 * value to another. Values with the most offers come first. The number of brands is limited, but the chosen one is
 * included.
 */
export function shopFacets(
  index: SearchIndex,
  kind: Kind,
  counts: CountWithout,
  brand: string | undefined,
): ShopFacets {
  const { isByCoverage } = goods[kind]
  return {
    countries: isByCoverage
      ? valuesOf(counts(index.covered, 'covers'))
      : valuesOf(counts(index.countries, 'country')),
    brands: brandsOf(index, counts, brand),
    categories: isByCoverage ? [] : valuesOf(counts(index.subTypes, 'subType')),
    regions: isByCoverage ? valuesOf(counts(index.regions, 'regions')) : [],
    bands: bandsOf(counts(index.bands, 'minUsd', 'maxUsd')),
    amounts: isByCoverage ? [] : amountsOf(counts(index.amounts, 'amount')),
  }
}

function valuesOf(counts: Counts): FacetValue[] {
  return counts.map(([value, offers]) => ({ value, offers }))
}

function brandsOf(
  index: SearchIndex,
  counts: CountWithout,
  brand: string | undefined,
): FacetValue[] {
  const most = valuesOf(counts(index.brandNames, 'brand'))
  if (brand === undefined || most.some(({ value }) => value === brand)) return most
  // A chosen brand that is not among the largest is counted among its own offers.
  return [...most, ...valuesOf(counts(index.brandNames)).filter(({ value }) => value === brand)]
}

function bandsOf(counts: Counts): FacetValue<Band>[] {
  const offersIn = new Map(counts)
  return bands
    .map((value, place) => ({ value, offers: offersIn.get(String(place)) ?? 0 }))
    .filter(({ offers }) => offers > 0)
}

function amountsOf(counts: Counts): FacetValue<AmountKind>[] {
  const offersOf = new Map(counts)
  return amountKinds
    .map((value) => ({ value, offers: offersOf.get(value) ?? 0 }))
    .filter(({ offers }) => offers > 0)
}
