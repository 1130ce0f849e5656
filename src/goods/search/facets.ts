import { type Column, valuesAmong } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, met, type Query } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

export interface Facets {
  readonly countries: readonly string[]
  readonly regions: readonly string[]
  readonly brands: readonly string[]
  readonly subTypes: readonly string[]
}

interface Found {
  readonly docs: Docs
  /** Whether the index keeps this list, so that the same question brings the same object. */
  readonly kept: boolean
}

/**
 * For each facet the values found when all *other* filters apply, so that a caller can switch from
 * one value to another (decisions 2).
 *
 * @param found what the whole query finds
 */
export function facetsAmong(index: SearchIndex, { clauses }: Query, found: Found): Facets {
  const values = (column: Column, own: keyof Filters) => {
    const others = clauses.filter((clause) => clause.own !== own)
    return known(column, others.length === clauses.length ? found : met(index, others))
  }
  return {
    countries: values(index.countries, 'country'),
    regions: values(index.regions, 'regions'),
    brands: values(index.brandNames, 'brand'),
    subTypes: values(index.subTypes, 'subType'),
  }
}

/**
 * The values among the offers of one filter, or of none, are worked out when first asked for and
 * stay true, since an index never changes. There are no more of them than values, and they go
 * when their index goes.
 */
const remembered = new WeakMap<Docs, Map<Column, readonly string[]>>()

function known(column: Column, { docs, kept }: Found): readonly string[] {
  if (!kept) return valuesAmong(column, docs)
  const ofDocs = remembered.get(docs) ?? new Map<Column, readonly string[]>()
  remembered.set(docs, ofDocs)
  const values = ofDocs.get(column) ?? valuesAmong(column, docs)
  ofDocs.set(column, values)
  return values
}
