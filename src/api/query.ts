import type { ParamSource } from '../catalog/search/param-source.ts'
import { readParams } from '../catalog/search/params.ts'

/** A published record. Fields that are undefined are absent from the JSON. */
export type Published = Readonly<Record<string, unknown>>

/** A parsed request that is not answered yet. */
export interface Query {
  /** The same for all requests at one route that have the same answer. */
  readonly key: string
  readonly answer: () => Published
}

/**
 * A request identified by its parsed parameters, with defaults filled in, so that neither their order nor their
 * spelling makes a different key.
 */
export function queryOf(params: object, answer: () => Published): Query {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  const key = JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)))
  return { key, answer }
}

/** A request to an operation without parameters. */
export function wholeListQuery(given: ParamSource, answer: () => Published): Query {
  readParams(given, {})
  return queryOf({}, answer)
}
