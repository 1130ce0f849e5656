const strings = /"(?:[^"\\]|\\.)*"/g
const numbers = /-?\d[\d.eE+-]*/g

/**
 * Reads JSON that says one thing to every reader (RFC 7493): no name twice in an object, no name that
 * readers in JavaScript take for something else, no number that they round.
 *
 * @throws Error with what is wrong
 */
export function strictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // The grammar holds now, so each colon outside of strings is one member.
  const bare = text.replace(strings, '')
  const colons = bare.split(':').length - 1
  if (colons !== membersIn(value)) throw new Error('a name stands twice in one object')
  for (const [number] of bare.matchAll(numbers)) {
    if (JSON.stringify(Number(number)) !== number) {
      throw new Error(`the number ${number} is read as ${Number(number)}`)
    }
  }
  return value
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Object.hasOwn(value, '__proto__')) throw new Error('a name is "__proto__"')
  const inside = Object.values(value).reduce((sum: number, one) => sum + membersIn(one), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}
