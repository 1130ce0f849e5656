import { type Column, valuesAmong } from './column.ts'
import { type Filters, matching } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

export interface Facets {
  readonly countries: readonly string[]
  readonly regions: readonly string[]
  readonly brands: readonly string[]
  readonly subTypes: readonly string[]
}

/**
 * For each facet the values found when all *other* filters apply, so that a caller can switch from
 * one value to another (decisions 2).
 */
export function facetsOf(index: SearchIndex, filters: Filters): Facets {
  const found = matching(index, filters)
  const values = (column: Column, own: keyof Filters) => {
    const { [own]: given, ...others } = filters
    const docs = given === undefined ? found : matching(index, others)
    return valuesAmong(column, docs, index.offers.length)
  }
  return {
    countries: values(index.countries, 'country'),
    regions: values(index.regions, 'regions'),
    brands: values(index.brandNames, 'brand'),
    subTypes: values(index.subTypes, 'subType'),
  }
}
