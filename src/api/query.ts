import type { ParamSource } from '../catalog/search/param-source.ts'
import { readParams } from '../catalog/search/params.ts'
import type { Published } from './views/discovery-offer.ts'

/** What a request asks for, understood but not yet answered. */
export interface Query {
  /** The same for everything that has the same answer at one route. */
  readonly key: string
  readonly answer: () => Content
}

/** An answer, or its JSON where that is at hand. */
export type Content = Published | Buffer

/**
 * A question by its parameters as they were read, with the defaults filled in: neither their order
 * nor their spelling makes another question.
 */
export function queryOf(params: object, answer: () => Content): Query {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  const key = JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)))
  return { key, answer }
}

/** What is asked where no parameters are taken. */
export function wholeListQuery(given: ParamSource, answer: () => Content): Query {
  readParams(given, {})
  return queryOf({}, answer)
}
