import fc from 'fast-check'
import { expect, test } from 'vitest'
import { intersect, keepListed } from './docs.ts'

const some = fc.uniqueArray(fc.nat(60), { maxLength: 40 })
/** Long lists, to intersect with short ones, so that the strides grow. */
const many = fc.uniqueArray(fc.nat(3_000), { minLength: 500, maxLength: 900 })
const pair = fc
  .oneof(fc.tuple(some, some), fc.tuple(fc.uniqueArray(fc.nat(3_000), { maxLength: 9 }), many))
  .map(([one, other]) => [sorted(one), sorted(other)] as const)

function sorted(list: readonly number[]): Uint32Array {
  return Uint32Array.from(list).sort()
}

test('the docs in both lists, whichever is named first', () => {
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const expected = one.filter((doc) => other.includes(doc))
      expect(intersect(one, other)).toEqual(expected)
      expect(intersect(other, one)).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})

test('keeps those of the first few that are listed, onto themselves too', () => {
  fc.assert(
    fc.property(pair, fc.nat(50), fc.boolean(), ([one, other], most, swaps) => {
      const [docs, list] = swaps ? [other, one] : [one, other]
      const count = Math.min(most, docs.length)
      const expected = docs.slice(0, count).filter((doc) => list.includes(doc))
      const apart = new Uint32Array(docs.length)
      const before = docs.slice()
      expect(keepListed(docs, count, list, apart)).toBe(expected.length)
      expect(apart.slice(0, expected.length)).toEqual(expected)
      expect(docs).toEqual(before)
      expect(keepListed(docs, count, list, docs)).toBe(expected.length)
      expect(docs.slice(0, expected.length)).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})
