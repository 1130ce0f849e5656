import fc from 'fast-check'
import { distance } from 'fastest-levenshtein'
import { expect, test } from 'vitest'
import { indexWordsOf, isTypoOf, nameFormsOf } from './words.ts'

test('an apostrophe parts words and joins them', () => {
  expect(indexWordsOf("McDonald's")).toEqual(['mcdonald', 's', 'mcdonalds'])
  expect(indexWordsOf('L’Oréal Paris')).toEqual(['l', 'oreal', 'paris', 'loreal', 'paris'])
  expect(nameFormsOf('7-Eleven')).toEqual(['7-eleven', '7 eleven'])
})

test.each([
  ['amazn', 'amazon', true],
  ['amazonn', 'amazon', true],
  ['amazom', 'amazon', true],
  ['amzaon', 'amazon', true],
  ['bmazon', 'amazon', true],
  ['amazon', 'amazon', false],
  ['amzn', 'amazon', false],
  ['amzano', 'amazon', false],
  ['nike', 'mike', false],
  ['aple', 'apple', true],
])('%s is a typo of %s: %s', (word, known, expected) => {
  expect(isTypoOf(word, known)).toBe(expected)
  expect(isTypoOf(known, word)).toBe(expected)
})

test('one edit is one by Levenshtein, or one swap', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 5, maxLength: 7 })
  fc.assert(
    fc.property(word, word, (one, other) => {
      const swaps = [...one].map(
        (_, at) => one.slice(0, at) + (one[at + 1] ?? '') + one[at] + one.slice(at + 2),
      )
      const expected = one !== other && (distance(one, other) === 1 || swaps.includes(other))
      expect(isTypoOf(one, other)).toBe(expected)
    }),
    { numRuns: 2000 },
  )
})
