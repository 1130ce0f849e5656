import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packRuns, type Runs } from './runs.ts'

/** The keys of each doc, in any order and perhaps repeated. */
const keysOfDocs = fc.array(fc.array(fc.nat(4), { maxLength: 6 }), { maxLength: 60 })

function packed(keysOf: readonly (readonly number[])[], keys = 5): Runs {
  return packRuns(keys, (add) => {
    for (const [doc, own] of keysOf.entries()) for (const key of own) add(key, doc)
  })
}

function runsOf({ starts, bounds }: Runs, key: number): [first: number, next: number][] {
  const own = bounds.subarray(starts[key], starts[key + 1])
  return Array.from({ length: own.length / 2 }, (_, at) => [
    own[2 * at] as number,
    own[2 * at + 1] as number,
  ])
}

function docsOf(runs: Runs, key: number): number[] {
  return runsOf(runs, key).flatMap(([first, next]) =>
    Array.from({ length: next - first }, (_, at) => first + at),
  )
}

test('holds the docs of each key, each once, and no run that another one continues', () => {
  fc.assert(
    fc.property(keysOfDocs, (keysOf) => {
      const runs = packed(keysOf)
      for (let key = 0; key < 5; key++) {
        const expected = [...keysOf.keys()].filter((doc) => keysOf[doc]?.includes(key))
        expect(docsOf(runs, key)).toEqual(expected)
        const own = runsOf(runs, key)
        for (const [at, [first]] of own.entries()) {
          expect(first).toBeGreaterThan(own[at - 1]?.[1] ?? -1)
        }
      }
      expect(runs.starts[5]).toBe(runs.bounds.length)
    }),
    { numRuns: 500 },
  )
})

test('neighbours are one run, a key named twice by one doc too', () => {
  const runs = packed([[0], [0, 0], [1], [0], [0, 1, 0]])
  expect(runsOf(runs, 0)).toEqual([
    [0, 2],
    [3, 5],
  ])
  expect(runsOf(runs, 1)).toEqual([
    [2, 3],
    [4, 5],
  ])
})

test('there may be no keys, and keys without docs', () => {
  expect(packed([], 0)).toEqual({ starts: Uint32Array.of(0), bounds: new Uint32Array(0) })
  expect(packed([[], []], 2).starts).toEqual(Uint32Array.of(0, 0, 0))
})
