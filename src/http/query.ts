import { distance } from 'fastest-levenshtein'
import { Refusal } from '../primitives/refusal.ts'

/** The most bytes of a query string (reliability: sizes). */
const queryMax = 2048
/** How much of a caller's own words an answer repeats. */
const echoMax = 64

const controlCharacters = /\p{Cc}/u

/** Names that people use for the same thing; the first one that a path knows was meant. */
const synonyms: readonly (readonly string[])[] = [
  ['search', 'q', 'query', 'text', 'keyword', 'term'],
  ['brand', 'operator', 'provider', 'carrier'],
  ['subType', 'category', 'type'],
  ['limit', 'size', 'count', 'per_page', 'pageSize', 'page_size'],
  ['offset', 'page', 'skip', 'start'],
  ['country', 'countryCode', 'country_code', 'iso'],
  ['regions', 'region'],
  ['duration', 'days', 'durationDays'],
]

/**
 * Takes a raw query apart by the book: UTF-8 in percent encoding, `+` for a space. Nothing is
 * guessed and nothing dropped, because a silently ignored parameter hides a caller's mistake.
 *
 * @param url the request's target as it came
 * @param known the parameters that the path takes
 * @throws Refusal naming a parameter that is unknown, repeated or not readable (decisions 2)
 */
export function readQuery(url: string, known: readonly string[]): ReadonlyMap<string, string> {
  const raw = rawQueryOf(url)
  if (raw.length > queryMax) throw tooLong(raw)
  const fields = new Map<string, string>()
  for (const pair of raw.split('&').filter((part) => part !== '')) {
    const [name, value] = decodedPair(pair)
    if (!known.includes(name)) throw unknownParameter(name, known)
    if (fields.has(name)) {
      throw new Refusal('repeated_parameter', `${name} may be given once only.`, {
        parameter: name,
      })
    }
    fields.set(name, value)
  }
  return fields
}

/** The parameter that was meant by an unknown one, when one is near. */
function nearParameter(name: string, known: readonly string[]): string | undefined {
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

function rawQueryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : (url.slice(start + 1).split('#')[0] ?? '')
}

function decodedPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=')
  const [rawName, rawValue] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
  const name = decoded(rawName)
  if (name === undefined || controlCharacters.test(name)) {
    throw invalidParameter(echoOf(rawName), 'The name of a parameter is not readable UTF-8 text.')
  }
  const value = decoded(rawValue)
  const shown = echoOf(name)
  if (value === undefined) {
    throw invalidParameter(shown, `${shown} is not valid UTF-8 in percent encoding.`)
  }
  if (controlCharacters.test(value)) {
    throw invalidParameter(shown, `${shown} must not have control characters.`)
  }
  return [name, value.trim()]
}

/** Undefined when the text is no percent encoding or its bytes are no UTF-8. */
function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function unknownParameter(name: string, known: readonly string[]): Refusal {
  const shown = echoOf(name)
  const near = nearParameter(name, known)
  const takes = known.length === 0 ? 'none' : known.join(', ')
  const hint = near === undefined ? `This path takes ${takes}.` : `Did you mean ${near}?`
  return new Refusal('unknown_parameter', `There is no parameter "${shown}" here. ${hint}`, {
    parameter: shown,
    allowed: known,
    ...(near === undefined ? {} : { extra: { didYouMean: near } }),
  })
}

function tooLong(raw: string): Refusal {
  const longest = raw.split('&').reduce((one, other) => (other.length > one.length ? other : one))
  const name = echoOf(decoded(longest.split('=')[0] ?? '') ?? '')
  return invalidParameter(name, `The query is longer than ${queryMax} bytes; ${name} is longest.`)
}

function invalidParameter(parameter: string, message: string): Refusal {
  return new Refusal('invalid_parameter', message, { parameter })
}

function echoOf(text: string): string {
  return [...text.replace(/\p{C}/gu, '\uFFFD')].slice(0, echoMax).join('')
}
