import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyOrder } from '../../test/contract/any-order.ts'
import { newHash, pending } from '../../test/contract/sample-orders.ts'
import { isPayoutMove } from '../../test/model/lives.ts'
import { entriesOf } from '../orders/ledger.ts'
import { isRefunding, moves, type Order } from '../orders/order.ts'
import type { Sealed } from '../secrets/vault.ts'
import { replayToDelivered, replayToOwed, replayToRefunded } from './replay.ts'

const now = new Date('2026-03-05T10:00:00Z')
const payment = { rail: 'x402', transaction: newHash(), block: 7 } as const
const refundTransaction = newHash()

/** Expects moves that the store itself could have made. */
function expectLegal(from: Order, steps: readonly Order[]): void {
  let at = from
  for (const step of steps) {
    if (step.state !== at.state) expect(moves[at.state], `from ${at.state}`).toContain(step.state)
    if (isRefunding(at) && isRefunding(step)) expect(isPayoutMove(at, step)).toBe(true)
    if (isRefunding(step) && !isRefunding(at)) expect(step.payout?.state).toBe('DUE')
    const { id, amount, tender } = step
    expect({ id, amount, tender }).toEqual({ id: at.id, amount: at.amount, tender: at.tender })
    expect(entriesOf(at, step).reduce((sum, entry) => sum + entry.amount, 0n)).toBe(0n)
    at = step
  }
}

test('from wherever an order stands, the way to its refund is legal, or there is none', () => {
  void fc.assert(
    fc.property(anyOrder, (order) => {
      const steps = replayToRefunded(order, refundTransaction, { now, payment })
      const ended = order.state === 'FULFILLED' || order.state === 'PAYMENT_FAILED'
      expect(steps === undefined).toBe(ended)
      if (steps === undefined) return
      const isBooked = isRefunding(order) && order.payout?.state === 'CONFIRMED'
      if (isBooked) return
      expectLegal(order, steps)
      expect(steps.at(-1)).toMatchObject({
        payout: { state: 'CONFIRMED', transaction: refundTransaction },
      })
    }),
    { numRuns: 500 },
  )
})

test('a refund alone does not tell that a pending order was paid', () => {
  expect(replayToRefunded(pending(), refundTransaction, { now })).toBeUndefined()
})

describe('a lost order', () => {
  const opened = pending()

  test('is delivered the way the store delivers', () => {
    const delivery = 'v1.sealed' as Sealed
    const steps = replayToDelivered(opened, { delivery }, { now, payment })
    expectLegal(opened, steps)
    expect(steps.at(-1)).toMatchObject({ state: 'FULFILLED', delivery, settlement: 'FINAL' })
    expect(steps.at(-1)).not.toHaveProperty('askedAt')
  })

  test.each([undefined, refundTransaction])(
    'is owed or refunded the way the store does it: %s',
    (refundedBy) => {
      const ends = { refundedBy, supply: { state: 'NONE' } } as const
      const steps = replayToOwed(opened, ends, { now, payment })
      expectLegal(opened, steps)
      expect(steps.at(-1)).toMatchObject({
        state: 'FULFILLMENT_FAILED',
        failure: { message: expect.stringContaining('was lost') },
        payout: { state: refundedBy ? 'CONFIRMED' : 'DUE' },
      })
    },
  )
})
