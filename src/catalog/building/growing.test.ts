import { expect, test } from 'vitest'
import { growing, growingFloats } from './growing.ts'

test.each([0, 1, 1_024, 1_025, 5_000])('%i numbers are kept, however many that are', (count) => {
  const numbers = growing()
  for (let at = 0; at < count; at++) numbers.push(2 ** 32 - 1 - at)
  const expected = Uint32Array.from({ length: count }, (_, at) => 2 ** 32 - 1 - at)
  expect(numbers.length()).toBe(count)
  expect(Uint32Array.from({ length: count }, (_, at) => numbers.at(at))).toEqual(expected)
  expect(numbers.take()).toEqual(expected)
})

test('what is no whole number, or none at all, is kept too', () => {
  const numbers = growingFloats()
  const given = [0.1, Number.NaN, Number.POSITIVE_INFINITY, -1]
  for (const number of given) numbers.push(number)
  expect([...numbers.take()]).toEqual(given)
})

test('what was taken is the taker’s, and nothing else lies in its memory', () => {
  const numbers = growing()
  numbers.push(1)
  const taken = numbers.take()
  taken[0] = 9
  expect(numbers.at(0)).toBe(1)
  expect(taken.buffer.byteLength).toBe(4)
})
