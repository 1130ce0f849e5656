import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLikeId, packIds, rowsOf } from './offer-ids.ts'

const id = fc.oneof(
  fc.string({ unit: fc.constantFrom('A', 'B', '_', '1'), maxLength: 3 }),
  fc.string({ maxLength: 8 }),
)

function packed(ids: readonly string[]) {
  return packIds(ids, ids.keys())
}

test('finds the row of every id, and hardly ever looks at another', () => {
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 80 }), id, (ids, other) => {
      const table = packed(ids)
      for (const [row, each] of ids.entries()) expect([...rowsOf(table, each)]).toContain(row)
      const rows = [...rowsOf(table, other)]
      expect(rows.filter((row) => ids[row] === other)).toEqual(
        ids.includes(other) ? [ids.indexOf(other)] : [],
      )
    }),
    { numRuns: 300 },
  )
})

test('rows that do not count are not found', () => {
  const table = packIds(['A', 'B', 'A'], [1, 2])
  expect([...rowsOf(table, 'A')]).toEqual([2])
  expect([...rowsOf(table, 'B')]).toEqual([1])
})

test('of two ids with one hash both are named, for the caller to compare', () => {
  // The first two ids of the form ID-00000000 with the same hash, found by trying.
  const [one, other] = ['ID-0000c518', 'ID-0001ac82']
  const table = packed([one, 'between', other])
  expect([...rowsOf(table, one)].sort()).toEqual([0, 2])
  expect([...rowsOf(table, other)].sort()).toEqual([0, 2])
})

test('ids that fall on one place, the last one too, are found behind it', () => {
  const size = packed(Array(7).fill('')).rows.length
  const placeOf = (text: string) => packed([text]).hashes.find((each) => each !== 0) ?? 0
  const fitting = Array.from({ length: 2_000 }, (_, at) => `ID${at}`).filter(
    (text) => (placeOf(text) & (size - 1)) === size - 1,
  )
  const [absent = '', ...ids] = fitting.slice(0, 8)
  expect(ids).toHaveLength(7)
  const table = packed(ids)
  expect(table.rows).toHaveLength(size)
  for (const [row, each] of ids.entries()) expect([...rowsOf(table, each)]).toEqual([row])
  expect([...rowsOf(table, absent)]).toEqual([])
})

test('an id in another case or with other signs between its words leads to the same row', () => {
  const ids = ['AMAZON_US_25', 'amazon-us-30', 'CLARO_GT_OPEN']
  const table = packed(ids)
  const like = (text: string) =>
    [...rowsOf(table, text)].filter((row) => isLikeId(ids[row] ?? '', text))
  expect(like('amazon_us_25')).toEqual([0])
  expect(like('Amazon-US 25')).toEqual([0])
  expect(like('AMAZON_US_30')).toEqual([1])
  for (const other of ['AMAZON_US_26', 'AMAZONUS25', 'AMAZON_US_25 ', '']) {
    expect(like(other)).toEqual([])
  }
})

test('a table of no ids has none', () => {
  expect([...rowsOf(packed([]), 'A')]).toEqual([])
})
