import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

describe('canonical JSON', () => {
  test('is the example of RFC 8785', () => {
    const value = {
      // The RFC writes one digit more here, which a double cannot hold.
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  test('has its names in the order of their code units', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const value = Object.fromEntries(names.map((name) => [name, 0]))
    const read = JSON.parse(canonicalJson(value).replace('"1"', '"one"')) as object
    expect(Object.keys(read)).toEqual([
      '\r',
      'one',
      '\u0080',
      '\u00f6',
      '\u20ac',
      '\ud83d\ude00',
      '\ufb33',
    ])
  })

  test('says the same as JSON, whatever the order of the names', () => {
    const wellFormed = fc.jsonValue().filter((value) => JSON.stringify(value).isWellFormed())
    fc.assert(
      fc.property(wellFormed, (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })
})

/** The same value with the names of every object in the other order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, reversed(member)] as const)
  return Object.fromEntries(members.reverse())
}
