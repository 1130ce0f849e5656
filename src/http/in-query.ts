import { echoOf, type ParamSource, unknownParameter } from '../catalog/search/param-source.ts'
import { refused } from '../catalog/search/params.ts'
import { Refusal } from '../lib/refusal.ts'

/** The maximum length of a query string, in bytes. */
const maxQuery = 2048

const controlCharacters = /\p{Cc}/u

/**
 * The parameters in the query of a request, read strictly: UTF-8 in percent encoding, `+` for a space.
 *
 * @param url the raw target of the request
 */
export function inQuery(url: string): ParamSource {
  return (known) => {
    const fields = new Map<string, string>()
    for (const [name, value] of pairsIn(url)) {
      requireText(name, value)
      if (!known.includes(name)) throw unknownParameter(name, known)
      fields.set(name, value.trim())
    }
    return fields
  }
}

function requireText(name: string, value: string): void {
  if (controlCharacters.test(name)) {
    throw refused(echoOf(name), 'The name of a parameter is not readable UTF-8 text.')
  }
  if (controlCharacters.test(value)) {
    throw refused(echoOf(name), `${echoOf(name)} must not have control characters.`)
  }
}

/**
 * The name and value of each parameter in a query, decoded and otherwise as sent.
 *
 * @param url the raw target of the request
 * @throws Refusal `invalid_parameter`, `repeated_parameter`
 */
export function* pairsIn(url: string): Generator<readonly [name: string, value: string]> {
  const raw = rawQueryOf(url)
  if (raw.length > maxQuery) throw tooLong(raw)
  const names = new Set<string>()
  for (const pair of raw.split('&').filter((part) => part !== '')) {
    const [name, value] = decodedPair(pair)
    if (names.has(name)) {
      const parameter = echoOf(name)
      const message = `${parameter} may be given once only.`
      throw new Refusal('repeated_parameter', message, { parameter })
    }
    names.add(name)
    yield [name, value]
  }
}

function rawQueryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : (url.slice(start + 1).split('#')[0] ?? '')
}

function decodedPair(pair: string): readonly [name: string, value: string] {
  const [rawName = '', ...rest] = pair.split('=')
  const name = decoded(rawName)
  if (name === undefined) {
    throw refused(echoOf(rawName), 'The name of a parameter is not readable UTF-8 text.')
  }
  const value = decoded(rest.join('='))
  if (value !== undefined) return [name, value]
  throw refused(echoOf(name), `${echoOf(name)} is not valid UTF-8 in percent encoding.`)
}

/** Undefined if the text is not valid percent encoding of UTF-8. */
function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function tooLong(raw: string): Refusal {
  const longest = raw.split('&').reduce((one, other) => (other.length > one.length ? other : one))
  const name = echoOf(decoded(longest.split('=')[0] ?? '') ?? '')
  return refused(name, `The query is longer than ${maxQuery} bytes; ${name} is longest.`)
}
