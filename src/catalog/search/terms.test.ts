import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bits, createBits, docsIn } from './bits.ts'
import { addFrom, addLike, addWord, packTerms, type Terms } from './terms.ts'
import { isTypoOf } from './words.ts'

const maxDocs = 40

/** Few letters, so that many words share prefixes or are one typo apart. "á" has the low five bits of "a". */
const word = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'á', 'я', '1'),
  minLength: 1,
  maxLength: 7,
})
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 25 })
/** The docs of each word. */
const docsOf = fc.array(fc.uniqueArray(fc.nat(maxDocs - 1), { maxLength: 6 }), {
  minLength: 25,
  maxLength: 25,
})

function packed(dictionary: readonly string[], docs: readonly (readonly number[])[]): Terms {
  return packTerms(dictionary, (add) => {
    for (let doc = 0; doc < maxDocs; doc++) {
      for (const at of dictionary.keys()) if (docs[at]?.includes(doc)) add(at, doc)
    }
  })
}

function found(add: (bits: Bits) => number): { docs: number[]; told: number } {
  const bits = createBits(maxDocs)
  const told = add(bits)
  const into = new Uint32Array(maxDocs)
  return { docs: [...into.subarray(0, docsIn(bits, into))], told }
}

test.each([
  ['exactly a word', addWord, (known: string, asked: string) => known === asked],
  ['a beginning', addFrom, (known: string, asked: string) => known.startsWith(asked)],
  ['a word with a typo', addLike, (known: string, asked: string) => isTypoOf(asked, known)],
] as const)('finds by %s what going through all words finds', (_, add, meets) => {
  fc.assert(
    fc.property(words, docsOf, word, fc.nat(24), (dictionary, docs, other, at) => {
      const terms = packed(dictionary, docs)
      const known = dictionary[at % dictionary.length] ?? ''
      for (const asked of [other, known, known.slice(1), `${known}a`, known.slice(0, 3)]) {
        const lists = dictionary.flatMap((each, place) =>
          asked !== '' && meets(each, asked) ? [docs[place] ?? []] : [],
        )
        const { docs: got, told } = found((bits) => (asked === '' ? 0 : add(terms, asked, bits)))
        expect(got).toEqual([...new Set(lists.flat())].sort((one, two) => one - two))
        expect(told).toBe(lists.flat().length)
      }
    }),
    { numRuns: 400 },
  )
})

test('a word that stands behind all others, or before them, is not found', () => {
  const terms = packed(['b', 'bb'], [[1], [2]])
  for (const asked of ['a', 'c', 'bbb', 'ba']) {
    expect(found((bits) => addWord(terms, asked, bits)).docs).toEqual([])
  }
  expect(found((bits) => addFrom(terms, 'c', bits)).docs).toEqual([])
})

test('a typo may be in any letter, the first and the last too', () => {
  const typos = [
    'amaxon',
    'mazon',
    'amazo',
    'bmazon',
    'amazom',
    'maazon',
    'amazno',
    'xamazon',
    'amazonx',
  ]
  const terms = packed(['amazon'], [[3]])
  for (const asked of typos) {
    expect(found((bits) => addLike(terms, asked, bits)).docs, asked).toEqual([3])
  }
  expect(found((bits) => addLike(terms, 'amazon', bits)).docs).toEqual([])
})
