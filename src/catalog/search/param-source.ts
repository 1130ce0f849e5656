import { distance } from 'fastest-levenshtein'
import { Refusal } from '../../lib/refusal.ts'

/**
 * Gives the parameters of a call as texts by name, from a query or from the arguments of a tool. Nothing is guessed
 * and nothing dropped, because a silently ignored parameter hides a caller's mistake.
 *
 * @param known the parameters that the operation takes
 * @throws Refusal naming a parameter that is unknown, repeated or not readable
 */
export type ParamSource = (known: readonly string[]) => ReadonlyMap<string, string>

/** The most characters of a caller's own text that an answer repeats. */
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
  ['phone', 'msisdn', 'number', 'phoneNumber', 'phone_number'],
  ['covers', 'countries'],
]

/** How callers reach the search that takes the parameters in `onlyThere`. */
export const everyKind = 'the search of every kind (GET /ai/search, tool search)'
const onlyThere = ['query', 'kind', 'covers', 'minDataGb', 'minDays', 'maxUsdc', 'phone', 'sort']

/** The refusal of a parameter that an operation does not take, with the one that was meant. */
export function unknownParameter(name: string, known: readonly string[]): Refusal {
  const shown = echoOf(name)
  const near = nearParameter(name, known)
  const takes = known.length === 0 ? 'none' : known.join(', ')
  const isElsewhere = known.includes('limit') && onlyThere.includes(name)
  const takesIt = isElsewhere ? ` To use ${name}, ask ${everyKind}.` : ''
  const hint = near === undefined ? `This path takes ${takes}.${takesIt}` : `Did you mean ${near}?`
  return new Refusal('unknown_parameter', `There is no parameter "${shown}" here. ${hint}`, {
    parameter: shown,
    allowed: known,
    ...(near === undefined ? {} : { extra: { didYouMean: near } }),
  })
}

/** A caller's own text as an answer may repeat it: short, and without control characters. */
export function echoOf(text: string): string {
  return [...text.replace(/\p{C}/gu, '\uFFFD')].slice(0, maxEcho).join('')
}

/** Longer than the name of any parameter. */
const maxParameter = 64

/** The parameter that was probably meant by an unknown one; undefined if none is near. */
export function nearParameter(name: string, known: readonly string[]): string | undefined {
  const lower = name.slice(0, maxParameter).toLowerCase()
  const sameThing = synonyms
    .filter((names) => names.some((synonym) => synonym.toLowerCase() === lower))
    .flatMap((names) => known.filter((other) => names.includes(other)))
  const [nearest] = known
    .map((other) => ({ other, far: distance(lower, other.toLowerCase()) }))
    .filter(({ far, other }) => far <= Math.min(2, Math.floor(other.length / 2)))
    .sort((one, next) => one.far - next.far)
  // The same name in another case comes before any synonym.
  return nearest?.far === 0 ? nearest.other : (sameThing[0] ?? nearest?.other)
}
