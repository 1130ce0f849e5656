import { expect, test } from 'vitest'
import { asked } from '../../../test/contract/order-store-nodes.ts'
import {
  ended,
  opened,
  opening,
  payment,
  returning,
  stepping,
} from '../../../test/contract/sample-checkouts.ts'
import { failed, refunded, signed, unpayable } from '../../../test/contract/sample-orders.ts'
import type { Refunding } from '../../orders/order.ts'
import { checkoutColumnsOf, checkoutOf } from './checkout-row.ts'
import { columnsOf } from './order-row.ts'

// The guards in the database and the previous version of the store rely on these words.

const due = failed(asked())
const { payout: _, ...given } = due
const awaited: Refunding = { ...given, state: 'EXPIRED', refundAt: new Date(0) }

test.each<[string, Refunding, object]>([
  ['awaited', awaited, { step: 'WAITING', signAt: { $date: '1970-01-01T00:00:00.000Z' } }],
  ['due', due, { step: 'DUE' }],
  ['approved', signed(due), { step: 'SIGNED', signed: expect.objectContaining({ rail: 'x402' }) }],
  ['confirmed', refunded(due), { step: 'REFUNDED', transaction: expect.any(String) }],
  ['failed', unpayable(due), { step: 'FAILED', code: 'BLOCKED' }],
])('a refund that is %s has the words of its row', (_name, order, refund) => {
  const doc = JSON.parse(columnsOf(order).doc)
  expect(doc).toMatchObject({ refund })
  expect(doc).not.toHaveProperty('payout')
  expect('refundedAt' in doc.refund).toBe(order.payout?.state === 'CONFIRMED')
})

const open = opened(opening())
const returned = returning(ended(open, [payment(100n)]), 100n)

test.each([
  ['DUE', { type: 'DUE' }],
  ['APPROVED', { type: 'SENDING' }],
  ['CONFIRMED', { type: 'SENT', transaction: expect.any(String), sentAt: expect.any(Object) }],
  ['FAILED', { type: 'FAILED', code: 'operator_pays', reason: expect.any(String) }],
] as const)('a return that is %s has the words of its row, and comes back', (state, step) => {
  const checkout = stepping(returned, state)
  const { recipient, refundTo: refund_to, doc } = checkoutColumnsOf(checkout)
  const row = { version: 1, recipient, refund_to, doc: JSON.parse(doc), write_id: '' }
  expect(row.doc.returns.map((one: { step: object }) => one.step)).toEqual([step])
  expect(checkoutOf(row)).toEqual(checkout)
})
