import type { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { moveOn, openOnRecord } from '../../../test/contract/checkout-store-nodes.ts'
import { orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import { ended, ordered, orderOf } from '../../../test/contract/sample-checkouts.ts'
import * as sample from '../../../test/contract/sample-orders.ts'
import type { Order } from '../../orders/order.ts'
import { nothingOpen } from '../../orders/ports.ts'
import { noFundsCode } from '../../suppliers/supplier.ts'
import { createCheckoutStore } from './checkouts.ts'
import { openFacts, orderFacts } from './facts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'

const { pending, paid, fulfilling, fulfilled, failed, refunded, unpayable } = sample

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})
/** Records an order, one move after the other. */
const record = (order: Order) => orderOnRecord(createOrderStore(pool), order)

/** The open amounts at the only supplier. */
const openAt = async (database: Pool) =>
  (await openFacts(database)).suppliers.get('zendit') ?? nothingOpen

test('an empty store has nothing to tell', async () => {
  expect(await orderFacts(pool)).toEqual({
    byState: {},
    ended: {},
    oldestOpenSeconds: undefined,
    refundsPending: 0,
    refundsFailed: 0,
    goodwillFailed: 0,
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
  // A payment that was dropped from the chain: nothing is owed, although its refund ends as failed.
  await record({ ...unpayable(failed(asked())), settlement: 'LOST' })
  // All of them are finished, and nobody is owed anything.
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
    ended: { PAYMENT_FAILED: 1, FULFILLED: 1, FULFILLMENT_FAILED: 4 },
    refundsPending: 1,
    refundsFailed: 1,
    goodwillFailed: 0,
    // Four orders of 12.50 USDC: paid, at the supplier, with a refund due, and with a failed refund.
    exposure: 50_000_000n,
    refundsStopped: false,
    granted: { hour: 0n, day: 0n },
  })
  expect(oldestOpenSeconds).toBeGreaterThanOrEqual(60)
})

test('what the supplier may still take is committed, also of orders that were given up', async () => {
  const database = await postgres.open()
  const keep = (order: Order) => orderOnRecord(createOrderStore(database), order)
  const asked = () => fulfilling(paid(pending()))
  await keep(fulfilled(asked()))
  await keep(refunded(failed(asked())))
  await keep(sample.paymentFailed(pending()))
  await keep(pending())
  expect(await openAt(database)).toEqual({ ...nothingOpen, pending: sample.wanted.amount })
  await keep(paid(pending()))
  await keep(asked())
  await keep({ ...failed(asked()), supply: { state: 'OPEN' } })
  expect((await openAt(database)).committed).toBe(3n * sample.wanted.amount)
})

test('a payment in a coin is committed once it is confirmed, and never pends for the float', async () => {
  const database = await postgres.open()
  const store = createCheckoutStore(database)
  const records = () => ({ store, orders: createOrderStore(database) })
  const held = async () => {
    const { pending, committed, unconfirmed } = await openAt(database)
    expect(pending).toBe(0n)
    return [committed, unconfirmed]
  }
  const { amount } = sample.wanted
  const unpaid = await openOnRecord(records)
  await moveOn(records, unpaid, ended(unpaid))
  const open = await openOnRecord(records)
  expect(await held()).toEqual([0n, 0n])
  const status = async (checkout: typeof open, now: 'PROCESSING' | 'SETTLED') =>
    moveOn(records, checkout, { ...checkout, invoice: { ...checkout.invoice, status: now } })
  const seen = await status(open, 'PROCESSING')
  expect(await held()).toEqual([0n, amount])
  const confirmed = await status(seen, 'SETTLED')
  expect(await held()).toEqual([amount, 0n])
  const paid = await moveOn(records, confirmed, ordered(confirmed))
  expect(await held()).toEqual([amount, 0n])
  await records().orders.open(orderOf(paid), [])
  await moveOn(records, paid, { ...paid, isPlaced: true })
  expect(await held()).toEqual([amount, 0n])
})

test('a refusal for want of funds comes with what was held beside it and released', async () => {
  const database = await postgres.open()
  const keep = (order: Order) => orderOnRecord(createOrderStore(database), order)
  const from = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const given = (placed: number, ended: number, code: string) => {
    const one = failed(fulfilling(paid(pending({ placedAt: from(placed) }))))
    return { ...one, changedAt: from(ended), failure: { ...one.failure, code } }
  }
  // Not counted as released: an order that ended before the refused one was placed, one that was placed after
  // it ended, another one that was refused for lack of funds, and a delivered one.
  const delivered = fulfilled(fulfilling(paid(pending({ placedAt: from(9) }))))
  await keep({ ...delivered, changedAt: from(8) })
  await keep(given(20, 11, 'E7'))
  await keep(given(4, 3, 'E7'))
  await keep(given(9, 8, noFundsCode))
  await keep(given(9, 8, 'E7'))
  await keep(given(10, 5, noFundsCode))
  const told = (await openFacts(database)).fundsRefusals.map(({ releasedSince }) => releasedSince)
  expect(told).toEqual([sample.wanted.amount, sample.wanted.amount])
})
