/** RFC 8785, so that equal values have equal hashes: members sorted by the UTF-16 code units of their names. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) return canonicalObject(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson('an infinite number')
  if (typeof value === 'string' && !value.isWellFormed()) throw notJson('a lone surrogate')
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) throw notJson(`a value of type ${typeof value}`)
  return text
}

function canonicalObject(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

function notJson(what: string): Error {
  return new Error(`JSON cannot express ${what}`)
}
