import type { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import {
  ended,
  moveOn,
  openOnRecord,
  ordered,
  orderOf,
} from '../../../test/fixtures/sample-checkouts.ts'
import * as sample from '../../../test/fixtures/sample-orders.ts'
import { asked, orderOnRecord } from '../../../test/fixtures/sample-orders.ts'
import { copyOrder } from '../../../test/harness/many-orders.ts'
import type { Charge } from '../../catalog/offer.ts'
import type { In, Order } from '../../orders/order.ts'
import { nothingOpen } from '../../orders/ports.ts'
import { noFundsCode } from '../../suppliers/supplier.ts'
import { createCheckoutStore } from './checkouts.ts'
import type { Database } from './database.ts'
import {
  addUpEnds,
  checkoutFacts,
  openFacts,
  orderFacts,
  readDearSales,
  readPace,
} from './facts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'

const { pending, paid, fulfilling, fulfilled, failed, refunded, unpayable, wayTo } = sample

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
    refundsFailed: 0,
    goodwillFailed: 0,
    exposure: 0n,
    refundsStopped: false,
  })
})

test('orders are counted by state and refund, and what is owed is summed up', async () => {
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
    refundsFailed: 1,
    goodwillFailed: 0,
    // Four orders of 12.50 USDC: paid, at the supplier, with a refund due, and with a failed refund.
    exposure: 50_000_000n,
    refundsStopped: false,
  })
  expect(oldestOpenSeconds).toBeGreaterThanOrEqual(60)
})

test('the pace is what the last week took from each wallet, by the hour', async () => {
  const database = await postgres.open()
  expect(await readPace(database)).toEqual({ refunds: 0, transfers: 0, suppliers: new Map() })
  const keep = (order: Order) => orderOnRecord(createOrderStore(database), order)
  await keep(fulfilled(asked()))
  await keep(fulfilled(asked()))
  await keep(refunded(failed(asked())))
  await keep(asked())
  const hour = Number(sample.wanted.amount) / 24
  // On its first day a store has no better measure than that day.
  const pace = { refunds: hour, transfers: 4 / 24, suppliers: new Map([['zendit', 2 * hour]]) }
  expect(await readPace(database)).toEqual(pace)
  const pass = (days: number) =>
    database.query(`begin; set local session_replication_role = replica;
      update ledger set at = at - ${days} * interval '1 day'; commit`)
  await pass(4)
  const later = await readPace(database)
  expect(later.refunds).toBeCloseTo(hour / 4, 0)
  expect(later.suppliers.get('zendit')).toBeCloseTo(hour / 2, 0)
  await pass(4)
  expect(await readPace(database)).toEqual({ refunds: 0, transfers: 0, suppliers: new Map() })
})

test('a sale is dear if the supplier charged more than it listed', async () => {
  const database = await postgres.open()
  const usd = (amount: number) => ({ currency: 'USD', divisor: 100, amount })
  const eur = (amount: number) => ({ currency: 'EUR', divisor: 100, amount, perUsd: 0.8 })
  const keep = async (listed: Charge, charge: Charge) => {
    const item = { ...sample.wanted.item, charge: listed }
    const order = { ...fulfilled(fulfilling(paid(pending({ item })))), charge }
    await orderOnRecord(createOrderStore(database), order)
  }
  await keep(usd(1_000), usd(1_000))
  await keep(usd(1_000), { currency: 'USD', divisor: 1_000, amount: 9_999 })
  expect(await readDearSales(database)).toEqual([])
  await keep(usd(1_000), usd(1_300))
  await keep(eur(1_000), eur(1_200))
  await keep(usd(1_000), eur(100))
  const { item, amount: price } = sample.wanted
  const offer = item.offerId
  const found = await readDearSales(database)
  expect(found.map(({ cost }) => cost).sort()).toEqual([13_000_000n, 15_000_000n, undefined])
  expect(found[0]).toMatchObject({ offer, price })
})

test('what the supplier may still take is committed, also of orders that were given up', async () => {
  const database = await postgres.open()
  const keep = (order: Order) => orderOnRecord(createOrderStore(database), order)
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
    const one = failed(asked({ placedAt: from(placed) }))
    return { ...one, changedAt: from(ended), failure: { ...one.failure, code } }
  }
  // Not counted as released: an order that ended before the refused one was placed, one that was placed after
  // it ended, another one that was refused for lack of funds, and a delivered one.
  const delivered = fulfilled(asked({ placedAt: from(9) }))
  await keep({ ...delivered, changedAt: from(8) })
  await keep(given(20, 11, 'E7'))
  await keep(given(4, 3, 'E7'))
  await keep(given(9, 8, noFundsCode))
  await keep(given(9, 8, 'E7'))
  await keep(given(10, 5, noFundsCode))
  const told = (await openFacts(database)).fundsRefusals.map(({ releasedSince }) => releasedSince)
  expect(told).toEqual([sample.wanted.amount, sample.wanted.amount])
})

test('what is added up at once by several is counted once', async () => {
  const [one, other] = await postgres.openForTwo()
  const store = createOrderStore(one)
  const delivered = () => orderOnRecord(store, fulfilled(asked()))
  for (let round = 0; round < 5; round += 1) {
    const adding = [one, other, one, other].map(addUpEnds)
    await Promise.all([...adding, delivered(), delivered()])
  }
  expect((await orderFacts(other)).ended).toEqual({ FULFILLED: 10 })
})

test('with many orders, neither what the store looks at nor what it forgets reads them all', async () => {
  const database = await postgres.open()
  const store = createOrderStore(database)
  const [first, ...moves] = wayTo({
    ...fulfilled(asked()),
    settlement: 'FINAL',
  })
  let { order } = await store.open(first as In<'PAYMENT_PENDING'>, ['a key'])
  for (const next of moves) order = (await store.move(order, next)).record
  await copyOrder(database, order.id, 8_000)
  await orderOnRecord(store, failed(asked()))

  const plans: string[] = []
  const planned = planning(database, plans)
  expect((await orderFacts(planned)).byState).toEqual({ FULFILLED: 8_001, FULFILLMENT_FAILED: 1 })
  await checkoutFacts(planned)
  await openFacts(planned)
  const soon = new Date(Date.now() + 60_000)
  expect(await createOrderStore(planned).forgetKeys(soon, AbortSignal.abort())).toBe(500)
  expect(await createOrderStore(planned).forgetKeys(soon)).toBe(7_501)
  await createOrderStore(planned).erasePersonal(new Date(Date.now() - 360 * 86_400_000))
  expect(plans.length).toBeGreaterThan(20)
  const reading = /Seq Scan on (orders|idempotency_keys|order_events|ledger)/
  expect(plans.filter((plan) => reading.test(plan))).toEqual([])
})

/** The same database, which records the plan of each statement before running it. */
function planning(database: Pool, plans: string[]): Database {
  const query = async (asked: string | { text: string; values: unknown[] }, values?: unknown[]) => {
    const statement = typeof asked === 'string' ? { text: asked, values: values ?? [] } : asked
    const { rows } = await database.query(`explain ${statement.text}`, statement.values)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    return database.query(statement)
  }
  return { query } as unknown as Database
}
