import { expect, it } from 'vitest'
import { restored, storable } from './records.ts'

it('refuses numbers that JSON would turn into null', () => {
  expect(() => storable({ block: Number.NaN })).toThrow('NaN')
})

it('does not take a field for a tag that only looks like one', () => {
  expect(restored({ $date: '2026-01-01T00:00:00.000Z' })).toEqual(new Date('2026-01-01'))
  const two = { $date: 'a', $bigint: 'b' }
  expect(restored(two)).toEqual(two)
})
