import { echoOf, type ParamSource, unknownParameter } from '../catalog/search/param-source.ts'
import { refused } from '../catalog/search/params.ts'
import { Refusal } from '../lib/refusal.ts'

/** The most bytes of a query string. */
const maxQuery = 2048

const controlCharacters = /\p{Cc}/u

/**
 * The parameters in the query of a request, read strictly: UTF-8 in percent encoding, `+` for a space.
 *
 * @param url the raw target of the request
 */
export function inQuery(url: string): ParamSource {
  return (known) => readQuery(url, known)
}

function readQuery(url: string, known: readonly string[]): ReadonlyMap<string, string> {
  const raw = rawQueryOf(url)
  if (raw.length > maxQuery) throw tooLong(raw)
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

function rawQueryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : (url.slice(start + 1).split('#')[0] ?? '')
}

function decodedPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=')
  const [rawName, rawValue] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
  const name = decoded(rawName)
  if (name === undefined || controlCharacters.test(name)) {
    throw refused(echoOf(rawName), 'The name of a parameter is not readable UTF-8 text.')
  }
  const value = decoded(rawValue)
  const shown = echoOf(name)
  if (value === undefined) {
    throw refused(shown, `${shown} is not valid UTF-8 in percent encoding.`)
  }
  if (controlCharacters.test(value)) {
    throw refused(shown, `${shown} must not have control characters.`)
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

function tooLong(raw: string): Refusal {
  const longest = raw.split('&').reduce((one, other) => (other.length > one.length ? other : one))
  const name = echoOf(decoded(longest.split('=')[0] ?? '') ?? '')
  return refused(name, `The query is longer than ${maxQuery} bytes; ${name} is longest.`)
}
