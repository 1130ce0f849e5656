import { distance } from 'fastest-levenshtein'
import { Refusal } from '../../lib/refusal.ts'
import { fold, foldedWords, oneLine, slugOf } from '../../lib/text.ts'
import { countryMeantBy, isCountry } from '../countries.ts'
import type { Page } from './search-index.ts'

/** What is published is what is checked. */
export interface Param<T> {
  readonly schema: Readonly<Record<string, unknown>>
  /** @param text never empty @throws Refusal `invalid_parameter` */
  readonly parse: (name: string, text: string) => T
  /** What its values name, so that an empty result can propose others. Of an `enum` any may be proposed. */
  readonly near?: 'brand' | 'category' | 'countries' | 'country' | 'days' | 'text'
}

export type Params = Readonly<Record<string, Param<unknown>>>

export type ValuesOf<P extends Params> = {
  readonly [Name in keyof P]?: ReturnType<P[Name]['parse']> | undefined
}

const maxCode = 64
const maxName = 200
const maxCodes = 50
const maxParam = 1_000

/** The most characters of free text that are read, and what it may have in one form for signs that look the same. */
const maxRead = 300
const maxWords = 24
const maxLetters = 40

/** An empty text is how models and forms leave a parameter out (docs/contributors/decisions/017). */
export function readParams<P extends Params>(paramSource: ParamSource, params: P): ValuesOf<P> {
  const entries = [...paramSource(Object.keys(params))].filter(([, text]) => text !== '')
  for (const [name, text] of entries) boundedText(name, text, maxParam)
  return Object.fromEntries(
    entries.map(([name, text]) => [name, params[name]?.parse(name, text)]),
  ) as ValuesOf<P>
}

export function described<T>(param: Param<T>, description: string, more: object = {}): Param<T> {
  return { ...param, schema: { ...param.schema, description, ...more } }
}

export const text: Param<string> = {
  schema: { type: 'string', minLength: 1, maxLength: maxName },
  parse: (name, value) => boundedText(name, value, maxName),
}

/** Texts that differ only in case, punctuation or spaces are one search, which is answered and cached once. */
export const searchText: Param<string> = {
  schema: { type: 'string', minLength: 1, maxLength: maxRead },
  parse: (name, value) => {
    const words = foldedWords(freeText(name, value))
    if (words.length > 0) return words.join(' ')
    throw invalidParameter(name, `${name} needs at least one letter or digit.`)
  },
  near: 'text',
}

export const question: Param<string> = {
  schema: { type: 'string', minLength: 1, maxLength: maxRead },
  parse: freeText,
}

export const searchName: Param<string> = {
  schema: text.schema,
  parse: (name, value) =>
    fold(boundedText(name, value, maxName))
      .trim()
      .replace(/\s+/g, ' '),
  near: 'brand',
}

export const country: Param<string> = {
  schema: {
    type: 'string',
    pattern: '^[A-Za-z]{2}$',
    description: 'ISO 3166-1 alpha-2 country code, in any case; XK is Kosovo',
  },
  parse: countryCode,
  near: 'country',
}

export const countries: Param<readonly string[]> = {
  schema: { type: 'string', pattern: '^ *[A-Za-z]{2} *(, *[A-Za-z]{2} *)*$' },
  parse: (name, value) => {
    const codes = value.split(',').map((code) => code.trim())
    if (codes.length > maxCodes)
      throw invalidParameter(name, `${name} may list at most ${maxCodes} codes.`)
    if (codes.includes('')) {
      throw invalidParameter(
        name,
        `${name} must be country codes with single commas between them: US,CA,MX.`,
      )
    }
    return [...new Set(codes.map((code) => countryCode(name, code)))].sort()
  },
  near: 'countries',
}

/** Takes the slug too: `south-asia` is South Asia. */
export function oneOf<const T extends string>(list: readonly T[]): Param<T> {
  return {
    schema: { type: 'string', enum: list },
    parse: (name, value) => {
      const [key, slug] = [fold(value), slugOf(value)]
      const item =
        list.find((one) => fold(one) === key) ??
        list.find((one) => slug !== '' && slugOf(one) === slug)
      return item ?? unlisted(name, value, list)
    },
  }
}

export function slugOrName<const T extends string>(list: readonly T[]): Param<T> {
  return { ...oneOf(list), schema: { type: 'string', enum: list.map(slugOf) } }
}

/** A whole number within a range. Others are refused, because a silent clamp would hide a mistake. */
export function wholeNumber(min: number, max: number): Param<number> {
  const isOpen = max === Number.MAX_SAFE_INTEGER
  return {
    schema: { type: 'integer', minimum: min, ...(isOpen ? {} : { maximum: max }) },
    parse: (name, value) => {
      const number = /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      const range = isOpen ? `${min} or more` : `from ${min} to ${max}`
      throw invalidParameter(name, `${name} must be a whole number, ${range}.`)
    },
  }
}

export const dollars: Param<number> = {
  schema: { type: 'number', minimum: 0 },
  parse: (name, value) => {
    if (/^\d{1,9}(\.\d{1,6})?$/.test(value)) return Number(value)
    throw invalidParameter(
      name,
      `${name} must be an amount of US dollars, 0 or more, such as 25 or 12.5.`,
      dollarsMeantBy(value),
    )
  },
}

export const amount: Param<number> = {
  schema: { type: 'number', exclusiveMinimum: 0 },
  parse: (name, value) => {
    const number = /^\d{1,6}(\.\d{1,3})?$/.test(value) ? Number(value) : 0
    if (number > 0) return number
    throw invalidParameter(name, `${name} must be a number above 0, such as 5 or 0.5.`)
  },
}

export const flag: Param<boolean> = {
  schema: { type: 'boolean' },
  parse: (name, value) => {
    if (value === 'true' || value === 'false') return value === 'true'
    throw new Refusal('invalid_parameter', `${name} must be true or false.`, {
      parameter: name,
      allowed: ['true', 'false'],
    })
  },
}

const defaultLimit = 20

export function paging(maxLimit: number) {
  return {
    limit: described(wholeNumber(1, maxLimit), 'How many items at most', { default: defaultLimit }),
    offset: described(wholeNumber(0, Number.MAX_SAFE_INTEGER), 'How many items to skip', {
      default: 0,
    }),
  }
}

export function pageOf(values: {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}): Page {
  return { limit: values.limit ?? defaultLimit, offset: values.offset ?? 0 }
}

export function invalidParameter(
  parameter: string,
  message: string,
  didYouMean?: string | number,
): Refusal {
  if (didYouMean === undefined) return new Refusal('invalid_parameter', message, { parameter })
  return new Refusal('invalid_parameter', `${message} Did you mean ${didYouMean}?`, {
    parameter,
    extra: { didYouMean },
  })
}

/** Text in one line. A sign may become several letters, so the bounds hold for what the words are read from. */
function freeText(name: string, value: string): string {
  const text = boundedText(name, oneLine(boundedText(name, value, maxRead)))
  const words = text.match(/\S*[\p{L}\p{N}]\S*/gu) ?? []
  if (words.length > maxWords)
    throw invalidParameter(name, `${name} may have at most ${maxWords} words.`)
  if (text.match(/[\p{L}\p{M}\p{N}]+/gu)?.some((word) => [...word].length > maxLetters)) {
    throw invalidParameter(name, `A word of ${name} may have at most ${maxLetters} letters.`)
  }
  return text
}

function boundedText(name: string, value: string, most = maxName): string {
  if (value.length > 2 * most || [...value].length > most) {
    throw invalidParameter(name, `${name} may have at most ${most} characters.`)
  }
  return value
}

function countryCode(name: string, value: string): string {
  const code = boundedText(name, value, maxCode).toUpperCase()
  if (isCountry(code)) return code
  if (/^[A-Z]{2}(\s*,\s*[A-Z]{2})+$/.test(code)) {
    throw invalidParameter(
      name,
      `${name} takes one code. For a plan that works in several, give ${everyKind} covers=${code}.`,
    )
  }
  const message = `${name} must be an ISO 3166-1 alpha-2 code such as US.`
  throw invalidParameter(name, message, countryMeantBy(value))
}

function unlisted(name: string, value: string, list: readonly string[]): never {
  const text = fold(value)
  const holding = list.filter((one) => text.length > 2 && fold(one).includes(text))
  const meant = holding.length === 1 ? holding[0] : nearestTo(value, list)
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  throw new Refusal('invalid_parameter', `${name} must be one of: ${list.join(', ')}.${hint}`, {
    parameter: name,
    allowed: list,
    ...(meant === undefined ? {} : { extra: { didYouMean: meant } }),
  })
}

/** The name that differs least from a text: by two letters at most, and by half of the name at most. */
function nearestTo<T extends string>(text: string, names: readonly T[]): T | undefined {
  const folded = fold(text.slice(0, maxName))
  const [nearest] = names
    .map((name) => ({ name, far: distance(folded, fold(name)) }))
    .filter(({ name, far }) => far <= Math.min(2, Math.floor(name.length / 2)))
    .sort((one, other) => one.far - other.far)
  return nearest?.name
}

export function nameMeantBy<T extends string>(
  name: string,
  candidates: readonly T[],
  sameThing: readonly (readonly string[])[] = [],
): T | undefined {
  const lower = name.toLowerCase()
  const [meant] = [...candidates.map((one) => [one as string]), ...sameThing]
    .filter((names) => names.some((one) => one.toLowerCase() === lower))
    .flatMap((names) => candidates.filter((one) => names.includes(one)))
  return meant ?? nearestTo(name, candidates)
}

export function dollarsMeantBy(text: string): number | undefined {
  const bare = text
    .replace(/usdc?|us\$|dollars?|bucks|\$/gi, '')
    .trim()
    .replace(/,(?=\d{3}(\D|$))/g, '')
    .replace(/,(?=\d{1,2}$)/, '.')
  return /^\d{1,9}(\.\d{1,2})?$/.test(bare) ? Number(bare) : undefined
}

/** @throws Refusal naming a parameter that is not known, is repeated or cannot be read */
export type ParamSource = (allowed: readonly string[]) => ReadonlyMap<string, string>

const maxEcho = 64

/** Names that people use for the same parameter. The first one that an operation takes is proposed. */
const synonyms: readonly (readonly string[])[] = [
  ['search', 'q', 'query', 'text', 'keyword', 'term'],
  ['brand', 'operator', 'provider', 'carrier'],
  ['subType', 'category', 'type'],
  ['limit', 'size', 'count', 'per_page', 'pageSize', 'page_size'],
  ['offset', 'page', 'skip', 'start'],
  ['country', 'countryCode', 'country_code', 'iso'],
  ['regions', 'region'],
  ['duration', 'days', 'durationDays', 'minDays'],
  ['minDataGb', 'data', 'dataGb', 'gb'],
  ['maxUsdc', 'budget', 'maxPrice', 'max_usdc', 'max_price', 'price'],
  ['iccid', 'esim', 'sim'],
  ['phone', 'msisdn', 'number', 'phoneNumber', 'phone_number'],
  ['covers', 'countries'],
]

const everyKind = 'the search of every kind (GET /ai/search, tool search)'
const onlyThere =
  'query kind brand covers subType minDataGb minDays maxUsdc phone iccid sort'.split(' ')

export function unknownParameter(name: string, allowed: readonly string[]): Refusal {
  const echo = echoOf(name)
  const near = nearParameter(name, allowed)
  const takes = allowed.length === 0 ? 'none' : allowed.join(', ')
  const isElsewhere = allowed.includes('limit') && onlyThere.includes(name)
  const takesIt = isElsewhere ? ` To use ${name}, ask ${everyKind}.` : ''
  const hint = near === undefined ? `This path takes ${takes}.${takesIt}` : `Did you mean ${near}?`
  return new Refusal('unknown_parameter', `There is no parameter "${echo}" here. ${hint}`, {
    parameter: echo,
    allowed: allowed,
    ...(near === undefined ? {} : { extra: { didYouMean: near } }),
  })
}

export function echoOf(text: string): string {
  return [...text.replace(/\p{C}/gu, '\uFFFD')].slice(0, maxEcho).join('')
}

export function nearParameter(name: string, allowed: readonly string[]): string | undefined {
  return nameMeantBy(name, allowed, synonyms)
}
