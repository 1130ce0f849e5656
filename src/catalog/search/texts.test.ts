import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginsWith, packTexts, placeOf, textAt } from './texts.ts'

/*
 * JavaScript compares code units: the surrogates of characters beyond U+FFFF sort before letters such as U+FF21,
 * although their code points sort behind. A lookup that compared otherwise would miss them.
 */
const letters = fc.constantFrom('a', 'b', 'z', 'é', 'e\u0301', 'ß', 'я', '好', '\uff21', '😀', '𝐀')
const text = fc.oneof(
  fc.string({ unit: letters, maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constant(''),
  // A lone surrogate: no supplier sends one, but a caller may search for it.
  fc.constantFrom('\ud83d', 'a\ude00'),
)
const dictionary = fc.uniqueArray(text, { maxLength: 30 }).map((list) => list.sort())

test('gives back every text', () => {
  fc.assert(
    fc.property(dictionary, (sorted) => {
      const texts = packTexts(sorted)
      expect(sorted.map((_, at) => textAt(texts, at))).toEqual(sorted)
    }),
    { numRuns: 300 },
  )
})

test('a text has its place where JavaScript would sort it in', () => {
  fc.assert(
    fc.property(dictionary, text, (sorted, asked) => {
      const texts = packTexts(sorted)
      for (const each of [asked, ...sorted, `${asked}a`]) {
        const first = sorted.findIndex((known) => known >= each)
        expect(placeOf(texts, each)).toBe(first === -1 ? sorted.length : first)
      }
    }),
    { numRuns: 300 },
  )
})

test('begins with what JavaScript says it begins with', () => {
  fc.assert(
    fc.property(dictionary, text, (sorted, asked) => {
      const texts = packTexts(sorted)
      for (const [at, known] of sorted.entries()) {
        const prefixes = [asked, known, `${known}a`, known.slice(0, 1), known.slice(0, -1)]
        for (const prefix of prefixes) {
          expect(beginsWith(texts, at, prefix), prefix).toBe(known.startsWith(prefix))
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('there may be no texts', () => {
  expect(placeOf(packTexts([]), 'a')).toBe(0)
})
