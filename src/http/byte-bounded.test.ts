import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byteBounded } from './byte-bounded.ts'

test('the oldest makes room, unless it was used', () => {
  const map = byteBounded<number>(3 * 300)
  for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at, 90)
  map.get('a')
  map.set('d', 3, 90)
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([0, undefined, 2, 3])
})

test('where all were used, the oldest makes room', () => {
  const map = byteBounded<number>(3 * 300)
  for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at, 90)
  for (const key of ['c', 'b', 'a']) map.get(key)
  map.set('d', 3, 90)
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([undefined, 1, 2, 3])
})

test('what is larger than the whole is not kept and pushes nothing out', () => {
  const map = byteBounded<number>(1_000)
  map.set('a', 1, 10)
  map.set('b', 2, 1_001)
  expect([map.get('a'), map.get('b')]).toEqual([1, undefined])
  map.set('a', 3, 1_001)
  expect([map.get('a'), map.bytes()]).toEqual([undefined, 0])
})

test('a map of no bytes keeps nothing', () => {
  const map = byteBounded<number>(0)
  map.set('', 1, 0)
  expect([map.get(''), map.bytes()]).toEqual([undefined, 0])
})

test('never holds more than its bound, and counts each key once', () => {
  const put = fc.record({ key: fc.constantFrom(...'abcdef'), bytes: fc.nat(1_500) })
  fc.assert(
    fc.property(fc.array(put), fc.nat(3_000), (puts, maxBytes) => {
      const map = byteBounded<number>(maxBytes)
      for (const { key, bytes } of puts) {
        map.set(key, bytes, bytes)
        expect(map.bytes()).toBeLessThanOrEqual(maxBytes)
      }
      const kept = [...'abcdef'].flatMap((key) => map.get(key) ?? [])
      expect(map.bytes()).toBe(kept.reduce((sum, bytes) => sum + bytes + 2 + 200, 0))
    }),
  )
})
