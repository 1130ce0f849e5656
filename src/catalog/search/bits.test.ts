import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addDocs,
  addFirst,
  addRuns,
  type Bits,
  clear,
  countOf,
  createBits,
  docsIn,
  docsOutside,
  hasBit,
  meet,
  nextBit,
  subtract,
  takeShared,
  unite,
} from './bits.ts'
import { packRuns } from './runs.ts'

/** Five words, the last one partly used. */
const size = 4 * 32 + 7
/** The edges of words, where errors are likeliest. */
const edges = [0, 1, 30, 31, 32, 33, 62, 63, 64, 95, 96, 127, 128, size - 1]
const doc = fc.oneof(fc.constantFrom(...edges), fc.nat(size - 1))
const docs = fc
  .oneof(
    fc.uniqueArray(doc, { maxLength: 40 }),
    // Also ranges of one or two full words, with their sign bits.
    fc.tuple(doc, fc.nat(70)).map(([from, length]) => range(from, Math.min(size, from + length))),
  )
  .map((list) => list.sort((one, other) => one - other))

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at)
}

function bitsOf(list: readonly number[]): Bits {
  const bits = createBits(size)
  addDocs(bits, Uint32Array.from(list))
  return bits
}

/** Expects these docs in the set, by every function that reads a set. */
function expectToHold(bits: Bits, expected: ReadonlySet<number>) {
  const sorted = [...expected].sort((one, other) => one - other)
  const into = new Uint32Array(size)
  const count = docsIn(bits, into)
  expect([...into.subarray(0, count)]).toEqual(sorted)
  expect(countOf(bits)).toBe(sorted.length)
  expect(range(0, size).filter((each) => hasBit(bits, each))).toEqual(sorted)
  const outside = bits.words.filter((_, at) => at < bits.from || at >= bits.to)
  expect(outside.every((word) => word === 0)).toBe(true)
}

describe('a set of docs', () => {
  test('holds what was added, however often', () => {
    fc.assert(
      fc.property(docs, docs, fc.nat(40), (one, other, most) => {
        const bits = bitsOf(one)
        const count = Math.min(most, other.length)
        addDocs(bits, Uint32Array.from(other), count)
        expectToHold(bits, new Set([...one, ...other.slice(0, count)]))
      }),
      { numRuns: 300 },
    )
  })

  test('holds the runs of a key, and tells how many docs they have', () => {
    fc.assert(
      fc.property(docs, docs, (one, other) => {
        const runs = packRuns(3, (add) => {
          for (const each of other) add(1, each)
        })
        const bits = bitsOf(one)
        expect(addRuns(bits, runs, 0)).toBe(0)
        expect(addRuns(bits, runs, 1)).toBe(other.length)
        expect(addRuns(bits, runs, 2)).toBe(0)
        expectToHold(bits, new Set([...one, ...other]))
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['unite', unite, (inOne: boolean, inOther: boolean) => inOne || inOther],
    ['meet', meet, (inOne: boolean, inOther: boolean) => inOne && inOther],
    ['subtract', subtract, (inOne: boolean, inOther: boolean) => inOne && !inOther],
  ])('%s does what it does to a Set, and nothing to the other', (_, change, stays) => {
    const expected = (one: Set<number>, other: Set<number>) =>
      new Set(range(0, size).filter((each) => stays(one.has(each), other.has(each))))
    fc.assert(
      fc.property(docs, docs, docs, (one, other, third) => {
        const [bits, others] = [bitsOf(one), bitsOf(other)]
        change(bits, others)
        const now = expected(new Set(one), new Set(other))
        expectToHold(bits, now)
        expectToHold(others, new Set(other))
        // A second change must work on the state that the first one left.
        change(bits, bitsOf(third))
        expectToHold(bits, expected(now, new Set(third)))
      }),
      { numRuns: 300 },
    )
  })

  test('a set meets and leaves itself', () => {
    const bits = bitsOf([0, 31, 32, 100])
    meet(bits, bits)
    unite(bits, bits)
    expectToHold(bits, new Set([0, 31, 32, 100]))
    subtract(bits, bits)
    expectToHold(bits, new Set())
  })

  test('gives the next doc from any doc on', () => {
    fc.assert(
      fc.property(docs, (one) => {
        const bits = bitsOf(one)
        // Also from positions behind the last doc.
        for (const from of range(0, size + 40)) {
          expect(nextBit(bits, from)).toBe(one.find((each) => each >= from) ?? -1)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('gives any page of what it shares with another', () => {
    fc.assert(
      fc.property(docs, docs, fc.nat(50), fc.nat(30), (one, other, skip, limit) => {
        const into = new Uint32Array(limit)
        const met = takeShared(bitsOf(one), bitsOf(other), { skip, into })
        const shared = one.filter((each) => other.includes(each))
        expect(met).toBe(Math.min(shared.length, skip + limit))
        expect([...into.subarray(0, Math.max(0, met - skip))]).toEqual(
          shared.slice(skip, skip + limit),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('tells the docs that it does not have', () => {
    fc.assert(
      fc.property(docs, (one) => {
        const into = new Uint32Array(size)
        const count = docsOutside(bitsOf(one), size, into)
        expect([...into.subarray(0, count)]).toEqual(
          range(0, size).filter((each) => !one.includes(each)),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('holds the first docs of an order of all, however many', () => {
    const all = fc.shuffledSubarray(range(0, size), { minLength: size })
    fc.assert(
      fc.property(all, fc.nat(size), (order, count) => {
        const bits = createBits(size)
        addFirst(bits, Uint32Array.from(order), count)
        expectToHold(bits, new Set(order.slice(0, count)))
      }),
      { numRuns: 300 },
    )
  })

  test('is empty when it is made and when it is cleared, and can be filled again', () => {
    fc.assert(
      fc.property(docs, docs, (one, other) => {
        const bits = createBits(size)
        expectToHold(bits, new Set())
        addDocs(bits, Uint32Array.from(one))
        clear(bits)
        expectToHold(bits, new Set())
        expect(nextBit(bits, 0)).toBe(-1)
        addDocs(bits, Uint32Array.from(other))
        expectToHold(bits, new Set(other))
      }),
      { numRuns: 100 },
    )
  })

  test('may be of no docs at all', () => {
    const none = createBits(0)
    unite(none, createBits(0))
    clear(none)
    expect([countOf(none), nextBit(none, 0), docsIn(none, new Uint32Array(0))]).toEqual([0, -1, 0])
  })
})
