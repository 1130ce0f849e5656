import type { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import * as sample from '../../../test/contract/sample-orders.ts'
import type { Order } from '../../orders/order.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { orderFacts } from './order-facts.ts'
import { createOrderStore } from './orders.ts'

const { pending, paid, fulfilling, fulfilled, failed, refunded, unpayable } = sample

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})
/** Puts an order on record, one move after the other. */
const record = (order: Order) => orderOnRecord(createOrderStore(pool), order)

test('an empty store has nothing to tell', async () => {
  expect(await orderFacts(pool)).toEqual({
    byState: {},
    oldestOpenSeconds: undefined,
    refundsPending: 0,
    refundsFailed: 0,
    exposure: 0n,
    refundsStopped: false,
    granted: { hour: 0n, day: 0n },
  })
})

test('orders are counted by state and refund, and what is owed is summed up', async () => {
  const asked = () => fulfilling(paid(pending()))
  await record(fulfilled(asked()))
  await record(sample.paymentFailed(pending()))
  await record(refunded(failed(asked())))
  // Nor for a payment that vanished from the chain, although such a refund ends as failed.
  await record({ ...unpayable(failed(asked())), settlement: 'LOST' })
  // Nothing is left to do with any of them, and nobody is owed anything.
  expect(await orderFacts(pool)).toMatchObject({
    oldestOpenSeconds: undefined,
    refundsFailed: 0,
    exposure: 0n,
  })

  await record(pending({ placedAt: new Date(Date.now() + 60_000) }))
  expect((await orderFacts(pool)).oldestOpenSeconds).toBe(0)

  const minuteAgo = new Date(Date.now() - 60_000)
  await record(paid(pending({ placedAt: minuteAgo })))
  await record(asked())
  await record(failed(asked()))
  await record(unpayable(failed(asked())))
  const { oldestOpenSeconds, ...facts } = await orderFacts(pool)
  expect(facts).toEqual({
    byState: {
      PAYMENT_PENDING: 1,
      PAYMENT_FAILED: 1,
      PAID: 1,
      FULFILLING: 1,
      FULFILLED: 1,
      FULFILLMENT_FAILED: 4,
    },
    refundsPending: 1,
    refundsFailed: 1,
    // Paid, asked for, to be refunded, and not refundable: 12.50 USDC each.
    exposure: 50_000_000n,
    refundsStopped: false,
    granted: { hour: 0n, day: 0n },
  })
  expect(oldestOpenSeconds).toBeGreaterThanOrEqual(60)
})
