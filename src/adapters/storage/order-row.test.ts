import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyOrder } from '../../../test/contract/any-order.ts'
import { columnsOf, orderOf } from './order-row.ts'
import { restored, storable } from './records.ts'

it('gives back any order as it was', async () => {
  await fc.assert(
    fc.asyncProperty(anyOrder, async (order) => {
      const { recipient, delivery, doc } = columnsOf(order)
      const row = { version: order.version, recipient, delivery, doc: JSON.parse(doc) }
      expect(orderOf(row)).toStrictEqual(order)
    }),
    { numRuns: 1_000 },
  )
})

it('puts nothing sealed into the document', async () => {
  await fc.assert(
    fc.asyncProperty(anyOrder, async (order) => {
      const doc = JSON.parse(columnsOf(order).doc)
      expect(doc).not.toHaveProperty('recipient')
      expect(doc).not.toHaveProperty('delivery')
    }),
  )
})

it('refuses numbers that JSON would turn into null', () => {
  expect(() => storable({ block: Number.NaN })).toThrow('NaN')
})

it('does not take a field for a tag that only looks like one', () => {
  expect(restored({ $date: '2026-01-01T00:00:00.000Z' })).toEqual(new Date('2026-01-01'))
  const two = { $date: 'a', $bigint: 'b' }
  expect(restored(two)).toEqual(two)
})
