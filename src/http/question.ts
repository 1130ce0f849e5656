import { readParams } from './params.ts'
import type { Published } from './views/discovery-offer.ts'

/** What a request asks for, understood but not yet answered. */
export interface Question {
  /** The same for everything that has the same answer at one route. */
  readonly key: string
  readonly answer: () => Published
}

/**
 * A question by its parameters as they were read, with the defaults filled in: neither their order
 * nor their spelling makes another question.
 */
export function questionOf(params: object, answer: () => Published): Question {
  const given = Object.entries(params).filter(([, value]) => value !== undefined)
  const key = JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)))
  return { key, answer }
}

/** What is asked at a path that takes no parameters. */
export function wholeQuestion(url: string, answer: () => Published): Question {
  readParams(url, {})
  return questionOf({}, answer)
}
