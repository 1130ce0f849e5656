import { countryMeantBy, isCountry } from '../goods/countries.ts'
import type { Page } from '../goods/search/search.ts'
import { Refusal } from '../primitives/refusal.ts'
import { fold, slugOf, wordsOf } from '../primitives/text.ts'
import { readQuery } from './query.ts'

/** Turns the text of one parameter into its value, or refuses it. The text is never empty. */
export type Reader<T> = (name: string, text: string) => T

export type Readers = Readonly<Record<string, Reader<unknown>>>

/** The values that a set of readers gives; a parameter that was not given is absent. */
export type ParamsOf<R extends Readers> = { readonly [Name in keyof R]?: ReturnType<R[Name]> }

/** The most characters of a text, and codes in a list (reliability: sizes). */
const textMax = 64
const codesMax = 50

/**
 * Reads the query of a request strictly (decisions 2).
 *
 * @throws Refusal 400 that names the one parameter at fault and what it may be
 */
export function readParams<R extends Readers>(url: string, readers: R): ParamsOf<R> {
  const fields = readQuery(url, Object.keys(readers))
  const values = Array.from(fields, ([name, text]) => {
    if (text === '') throw refused(name, `${name} is empty; leave it out or give it a value.`)
    return [name, readers[name]?.(name, text)]
  })
  return Object.fromEntries(values) as ParamsOf<R>
}

/** Free text of at most 64 characters. */
export function text(name: string, value: string): string {
  if ([...value].length > textMax) {
    throw refused(name, `${name} may have at most ${textMax} characters.`)
  }
  return value
}

/** Text to search by: it needs something to look for. */
export function searchText(name: string, value: string): string {
  if (wordsOf(text(name, value)).length === 0) {
    throw refused(name, `${name} needs at least one letter or digit.`)
  }
  return value
}

/** An ISO 3166-1 alpha-2 code in any case; gives it in upper case. */
export function country(name: string, value: string): string {
  const code = text(name, value).toUpperCase()
  if (isCountry(code)) return code
  const meant = countryMeantBy(value)
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  throw new Refusal(
    'invalid_parameter',
    `${name} must be an ISO 3166-1 alpha-2 code such as US.${hint}`,
    { parameter: name, ...(meant === undefined ? {} : { extra: { didYouMean: meant } }) },
  )
}

/** Comma-separated country codes, at most 50; each is given once. */
export function countries(name: string, value: string): readonly string[] {
  const codes = value.split(',').map((code) => code.trim())
  if (codes.length > codesMax) throw refused(name, `${name} may list at most ${codesMax} codes.`)
  if (codes.includes('')) {
    throw refused(name, `${name} must be country codes with single commas between them: US,CA,MX.`)
  }
  return [...new Set(codes.map((code) => country(name, code)))]
}

/** One value of a list, compared without case and accents; gives it as the list has it. */
export function oneOf<const T extends string>(list: readonly T[]): Reader<T> {
  return (name, value) => {
    const key = fold(value)
    return found(name, list, (item) => fold(item) === key)
  }
}

/** Likewise, and its slug is taken too: `south-asia` is South Asia (decisions 3). */
export function slugIn<const T extends string>(list: readonly T[]): Reader<T> {
  return (name, value) => {
    const slug = slugOf(value)
    return found(name, list, (item) => slugOf(item) === slug)
  }
}

/** A whole number within a range; what lies outside is refused, never clamped (decisions 2). */
export function wholeNumber(min: number, max: number): Reader<number> {
  return (name, value) => {
    const number = /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`
    throw refused(name, `${name} must be a whole number, ${range}.`)
  }
}

/** An amount of US dollars, 0 or more, written in digits. */
export function dollars(name: string, value: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(value)) return Number(value)
  throw refused(name, `${name} must be an amount of US dollars, 0 or more, such as 25 or 12.5.`)
}

export function flag(name: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  throw new Refusal('invalid_parameter', `${name} must be true or false.`, {
    parameter: name,
    allowed: ['true', 'false'],
  })
}

/** The parameters of every paged list; `maxLimit` is 50 in discovery and 100 in the catalog. */
export function paging(maxLimit: number) {
  return { limit: wholeNumber(1, maxLimit), offset: wholeNumber(0, Number.MAX_SAFE_INTEGER) }
}

/** The page that was asked for, with the published defaults: 20 from 0. */
export function pageOf(params: {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}): Page {
  return { limit: params.limit ?? 20, offset: params.offset ?? 0 }
}

export function refused(parameter: string, message: string): Refusal {
  return new Refusal('invalid_parameter', message, { parameter })
}

function found<T extends string>(name: string, list: readonly T[], test: (item: T) => boolean): T {
  const item = list.find(test)
  if (item !== undefined) return item
  throw new Refusal('invalid_parameter', `${name} must be one of: ${list.join(', ')}.`, {
    parameter: name,
    allowed: list,
  })
}
