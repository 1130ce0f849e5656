/**
 * The one spelling of a JSON value (RFC 8785), so that two who hash the same value get the same.
 * The names of every object are in the order of their UTF-16 code units; numbers and strings are
 * written as ECMAScript writes them, which is what the RFC took over.
 *
 * @throws Error for what JSON cannot say: infinite numbers, half a surrogate pair, functions
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) return canonicalObject(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson('an infinite number')
  if (typeof value === 'string' && !value.isWellFormed()) throw notJson('half a surrogate pair')
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) throw notJson(`a value of type ${typeof value}`)
  return text
}

/** A member that is undefined is not there, as in `JSON.stringify`. */
function canonicalObject(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

function notJson(what: string): Error {
  return new Error(`JSON has no word for ${what}`)
}
