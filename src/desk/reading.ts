import { type Reading, refusesAnyQuery, refusesQuery } from './operation.ts'

/** What differs from one reading operation to the next. */
type Told = Pick<Reading, 'id' | 'path' | 'name' | 'description' | 'answers' | 'ask'> &
  Partial<Pick<Reading, 'query'>>

/** An operation of the discovery interface, and of its limit. */
export function inDiscovery(told: Told): Reading {
  return { ...freely(told), group: 'Discovery', limit: 'discovery', ...told }
}

/** An operation that reads the catalog interface. */
export function inCatalog(told: Told): Reading {
  return { ...freely(told), group: 'Catalog', limit: 'reading', ...told }
}

function freely({ query }: Told) {
  const refusals = query === undefined ? refusesAnyQuery : refusesQuery
  return { method: 'GET', access: 'free', refusals } as const
}
