import { expect, test } from 'vitest'
import { createPairs } from './pairs.ts'

const docs = (...numbers: number[]) => Uint32Array.from(numbers)

test('a pair is made once, and each order and each other list is a pair of its own', () => {
  const pairs = createPairs()
  const [one, other, third] = [docs(1, 2), docs(2, 3), docs(2, 4)]
  const made = pairs.docsIn(one, other, () => docs(2))
  expect(pairs.docsIn(one, other, () => docs())).toBe(made)
  expect(pairs.docsIn(one, third, () => docs(7))).toEqual(docs(7))
  expect(pairs.docsIn(other, third, () => docs(8))).toEqual(docs(8))
  expect(pairs.docsIn(one, other, () => docs())).toBe(made)
})

test('when there is no room for one more, the pairs kept so far are made again', () => {
  const pairs = createPairs(6_020)
  const lists = Array.from({ length: 4 }, () => docs(1))
  const ask = (at: number) =>
    pairs.docsIn(lists[at] as Uint32Array, lists[0] as Uint32Array, () => docs(at))
  const [first, second, third] = [ask(0), ask(1), ask(2)]
  expect([ask(0), ask(1), ask(2)]).toEqual([first, second, third])
  expect(ask(0)).toBe(first)
  expect(ask(3)).toEqual(docs(3))
  expect(ask(0)).not.toBe(first)
})
