import { distance } from 'fastest-levenshtein'
import { Refusal } from '../../lib/refusal.ts'

/**
 * Gives what a caller named for an operation, as texts by name, however it came: in a query, as
 * arguments of a tool. Nothing is guessed and nothing dropped, because a silently ignored parameter
 * hides a caller's mistake.
 *
 * @param known the parameters that the operation takes
 * @throws Refusal naming a parameter that is unknown, repeated or not readable
 */
export type ParamSource = (known: readonly string[]) => ReadonlyMap<string, string>

/** How much of a caller's own words an answer repeats. */
const maxEcho = 64

/** Names that people use for the same thing; the first one that an operation knows was meant. */
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

/** How callers reach the search that takes what only some lists do. */
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

/** A caller's own words as an answer may repeat them: short, and without control characters. */
export function echoOf(text: string): string {
  return [...text.replace(/\p{C}/gu, '\uFFFD')].slice(0, maxEcho).join('')
}

/** The parameter that was meant by an unknown one, when one is near. */
export function nearParameter(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  const sameThing = synonyms
    .filter((names) => names.some((synonym) => synonym.toLowerCase() === lower))
    .flatMap((names) => known.filter((other) => names.includes(other)))
  const [nearest] = known
    .map((other) => ({ other, far: distance(lower, other.toLowerCase()) }))
    .filter(({ far, other }) => far <= Math.min(2, Math.floor(other.length / 2)))
    .sort((one, next) => one.far - next.far)
  // The very name in another case was meant, whatever else goes by that name.
  return nearest?.far === 0 ? nearest.other : (sameThing[0] ?? nearest?.other)
}
