import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fold } from '../../lib/text.ts'
import { field, packColumn } from '../building/pack-column.ts'
import {
  type Column,
  countsAmong,
  countsIn,
  docsAt,
  docsWith,
  openColumn,
  placesAmong,
  valuesAmong,
} from './column.ts'

/** Several spellings of one value, an empty value, and one that JSON must escape. */
const value = fc.constantFrom('Café', 'CAFE', 'cafe', 'Bar', 'bár', '', 'Quote "', 'Ж', '10', '9')
/** No offer has the exact same value twice. */
const rows = fc.array(fc.uniqueArray(value, { maxLength: 3 }), { maxLength: 40 })
/** The rows that become docs, in any order, as the published order may be. */
const among = (length: number) => fc.shuffledSubarray([...Array(length).keys()])
const made = rows.chain((values) => fc.tuple(fc.constant(values), among(values.length)))

function quotedAt({ quoted: { starts, bytes } }: Column, place: number): string {
  return Buffer.from(bytes.subarray(starts[place], starts[place + 1])).toString()
}

function columnOf(values: readonly (readonly string[])[], order: readonly number[]): Column {
  const all = field()
  for (const each of values) all.add(each)
  return openColumn(packColumn(all, Uint32Array.from(order)))
}

const byText = (one: string, other: string) => (one < other ? -1 : one === other ? 0 : 1)

/** The folded values of each doc. */
function keysOf(values: readonly (readonly string[])[], order: readonly number[]) {
  return order.map((row) => new Set((values[row] ?? []).map(fold)))
}

test('has each value once, sorted, with the docs that have it', () => {
  fc.assert(
    fc.property(made, ([values, order]) => {
      const column = columnOf(values, order)
      const keys = keysOf(values, order)
      const all = [...new Set(keys.flatMap((own) => [...own]))].sort(byText)
      expect(column.values.map(fold)).toEqual(all)
      const docsOf = (key: string) => [...keys.keys()].filter((doc) => keys[doc]?.has(key))
      for (const [place, key] of all.entries()) {
        expect([...docsAt(column, place)]).toEqual(docsOf(key))
        expect(docsAt(column, place)).toBe(docsWith(column, key.toUpperCase()))
      }
      expect(countsIn(column)).toEqual(
        column.values.map((name) => [name, docsOf(fold(name)).length]),
      )
      // Of equal spellings, the first one found is used.
      const first = new Map(
        order
          .flatMap((row) => values[row] ?? [])
          .toReversed()
          .map((name) => [fold(name), name]),
      )
      expect(column.values).toEqual(all.map((key) => first.get(key)))
    }),
    { numRuns: 300 },
  )
})

test('tells the values among some docs, and how many have each', () => {
  fc.assert(
    fc.property(
      made,
      fc.infiniteStream(fc.boolean()),
      fc.nat(40),
      ([values, order], picks, most) => {
        const column = columnOf(values, order)
        const keys = keysOf(values, order)
        const docs = Uint32Array.from(order.keys()).filter(() => picks.next().value === true)
        const count = Math.min(most, docs.length)
        const expected = (few: Uint32Array) =>
          column.values.filter((name) => few.some((doc) => keys[doc]?.has(fold(name))))
        // Twice, because the memory for marks is reused.
        for (const _ of ['once', 'again']) {
          expect(valuesAmong(column, docs)).toEqual(expected(docs))
          const places = placesAmong(column, docs, count)
          expect(places.map((place) => column.values[place])).toEqual(
            expected(docs.subarray(0, count)),
          )
          expect(places.map((place) => quotedAt(column, place))).toEqual(
            expected(docs.subarray(0, count)).map((name) => `${JSON.stringify(name)},`),
          )
        }
        const counts = expected(docs).map((name): [string, number] => [
          name,
          docs.filter((doc) => keys[doc]?.has(fold(name))).length,
        ])
        expect(countsAmong(column, docs)).toEqual(counts.sort(([, one], [, other]) => other - one))
      },
    ),
    { numRuns: 300 },
  )
})

test('a value that nothing has, has no docs', () => {
  const column = columnOf([['Bar'], []], [0, 1])
  expect(docsWith(column, 'Foo')).toHaveLength(0)
  expect([...docsWith(column, 'BÁR')]).toEqual([0])
})

test('more combinations than two bytes can number are told apart', () => {
  const all = field()
  for (let at = 0; at <= 0x1_00_00; at++) all.add([`v${at}`])
  const codesOf = (count: number) => packColumn(all, Uint32Array.from(Array(count).keys())).codes
  const [small, large] = [codesOf(0x1_00_00), codesOf(0x1_00_01)]
  expect([small.BYTES_PER_ELEMENT, large.BYTES_PER_ELEMENT]).toEqual([2, 4])
  expect([new Set(small).size, new Set(large).size]).toEqual([0x1_00_00, 0x1_00_01])
})

test('the values that most docs have come first, however the counts lie', () => {
  const count = fc.oneof(fc.nat(20), fc.constantFrom(31, 32, 33, 63, 64, 127, 128), fc.nat(300))
  fc.assert(
    fc.property(
      fc.array(count, { maxLength: 20 }),
      fc.integer({ min: 1, max: 8 }),
      (counts, most) => {
        const values = counts.flatMap((times, at) =>
          Array.from({ length: times }, () => [`value ${String(at).padStart(2, '0')}`]),
        )
        const column = columnOf(values, [...values.keys()])
        const docs = Uint32Array.from(values.keys())
        const expected = countsIn(column)
          .sort(([one, a], [other, b]) => b - a || byText(one, other))
          .slice(0, most)
        expect(countsAmong(column, docs, docs.length, most)).toEqual(expected)
      },
    ),
    { numRuns: 200 },
  )
})
