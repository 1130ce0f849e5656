import { expect, test } from 'vitest'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  pending,
  refunded,
  unpayable,
} from '../../../test/fixtures/sample-orders.ts'
import type { Refunding } from '../../orders/order.ts'
import { stageOfOrder } from './order-view.ts'

const failing = failed(fulfilling(paid(pending())))
const vanished: Refunding = {
  ...failing,
  settlement: 'LOST',
  payout: { state: 'FAILED', code: 'payment_vanished', reason: 'gone' },
}

test.each([
  ['whose refund waits for an operator', unpayable(failing), 'refund_stuck'],
  ['whose refund has begun', failing, 'refunding'],
  ['whose money is back', refunded(failing), 'refunded'],
  // Nothing was taken, so no refund must be promised.
  ['whose payment vanished', vanished, 'not_taken'],
  [
    'that is asked for in vain',
    { ...vanished, payout: { state: 'DUE' } } as Refunding,
    'not_taken',
  ],
  ['that was delivered all the same', fulfilled(fulfilling(paid(pending()))), 'delivered'],
] as const)('an order %s is shown as that', (_, order, stage) => {
  expect(stageOfOrder(order)).toBe(stage)
})
