import { readParams } from './params.ts'
import type { Published } from './views/discovery-offer.ts'

/** What a request asks for, understood but not yet answered. */
export interface Question {
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
export function questionOf(params: object, answer: () => Content): Question {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  const key = JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)))
  return { key, answer }
}

/** What is asked at a path that takes no parameters. */
export function wholeQuestion(url: string, answer: () => Content): Question {
  readParams(url, {})
  return questionOf({}, answer)
}
