import { type Reading, refusesAnyQuery, refusesQuery } from './operation.ts'

/** What differs from one reading operation to the next. */
type ReadingSpec = Pick<Reading, 'id' | 'path' | 'name' | 'description' | 'answers' | 'ask'> &
  Partial<Pick<Reading, 'query'>>

/** An operation of the discovery interface, and of its limit. */
export function inDiscovery(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Discovery', limit: 'discovery', ...spec }
}

/** An operation that reads the catalog interface. */
export function inCatalog(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Catalog', limit: 'reading', ...spec }
}

function freely({ query }: ReadingSpec) {
  const refusals = query === undefined ? refusesAnyQuery : refusesQuery
  return { method: 'GET', access: 'free', refusals } as const
}
