import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { moveOn, openOnRecord } from '../../../test/contract/checkout-store-nodes.ts'
import { orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import {
  closed,
  ended,
  opening,
  ordered,
  orderOf,
  payment,
  returning,
  stepping,
  unitsOfPrice,
} from '../../../test/contract/sample-checkouts.ts'
import { fulfilled, fulfilling, paid } from '../../../test/contract/sample-orders.ts'
import { endedLongAgo } from '../../../test/harness/many-orders.ts'
import { type Checkout, type CheckoutIn, returnReference } from '../../checkouts/checkout.ts'
import { usdc } from '../../lib/money.ts'
import type { In } from '../../orders/order.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import { createArchive } from './archive.ts'
import { createCheckoutRecord } from './checkout-record.ts'
import { createCheckoutStore } from './checkouts.ts'
import { createHandPayouts } from './hand-payouts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payout-limits.ts'
import { createPayoutRecord } from './payout-record.ts'
import { createStoreRecord } from './store-record.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeEach(async () => {
  pool = await postgres.open()
  return () => pool.end()
})

const endless = usdc(10n ** 50n)
const caps = { hour: endless, day: endless }
const records = () => ({ store: createCheckoutStore(pool), orders: createOrderStore(pool) })
const surplus = 700n

/** An overpaid checkout whose order is delivered and whose excess is returned. */
async function delivered(): Promise<CheckoutIn<'ORDERED'>> {
  const open = await openOnRecord(records)
  const payments = [payment(unitsOfPrice), payment(surplus)]
  const decided = await moveOn(records, open, ordered(open, payments))
  await orderOnRecord(records().orders, deliveredOf(orderOf(decided)))
  const placed = await moveOn(records, decided, { ...decided, isPlaced: true })
  const due = await moveOn(records, placed, returning(placed, surplus))
  expect(await createPayoutLimits(pool, caps).allow(returnReference(due.id, 1))).toBe('granted')
  const sending = await moveOn(records, due, stepping(due, 'APPROVED'))
  return moveOn(records, sending, stepping(sending, 'CONFIRMED'))
}

function deliveredOf(first: In<'PAYMENT_PENDING'>): In<'FULFILLED'> {
  const receipt = { rail: 'btcpay', transaction: randomBytes(32).toString('hex') } as const
  return { ...fulfilled(fulfilling({ ...paid(first), receipt })), settlement: 'FINAL' }
}

const closedLongAgo = async () => {
  const sent = await delivered()
  const over = await moveOn(records, sent, closed(sent))
  await endedLongAgo(pool)
  return over
}

/** Archives all that may be archived. Returns the written lines. */
async function archiveAll(): Promise<string[]> {
  const archive = createArchive(pool)
  const lines = []
  for await (const page of archive.lines(new Date(Date.now() + 60_000))) lines.push(...page)
  if (lines.length === 0) return []
  const file = `orders-${randomBytes(8).toString('hex')}`
  const begun = await archive.begin({ file, sha256: 'a'.repeat(64), orders: lines.length })
  expect(await archive.move(begun, lines)).toBe(lines.length)
  await archive.finish(begun)
  return lines.map(({ text }) => text)
}

async function countOf(table: string): Promise<number> {
  return (await pool.query(`select count(*)::int as count from ${table}`)).rows[0].count
}

/** What reconciliation reads of orders and checkouts. */
async function bookKept() {
  const checkouts: Checkout[] = []
  const record = createCheckoutRecord(pool)
  const store = createStoreRecord(pool)
  for await (const page of record.all()) checkouts.push(...page)
  const orders = await store.byIds(checkouts.map(({ orderId }) => orderId))
  return {
    checkouts: checkouts.map(essence),
    orders: orders.map(({ id, state, amount, tender }) => ({ id, state, amount, tender })),
    receipts: orders.map((order) => 'receipt' in order && order.receipt),
    coins: await record.ledger(),
    inUsdc: await store.ledger('x402'),
    inCoins: await store.ledger('btcpay'),
    wrong: [await record.misbooked(), await store.misbooked(), await record.strayOrders()],
  }
}

/** The fields that are compared with orders, the processor and payouts. */
function essence(checkout: Checkout) {
  const { id, orderId, state, coin, network, refundTo, amount } = checkout
  const { invoice, returns, price } = checkout as CheckoutIn<'ORDERED'>
  const { id: named, address, units, payments } = invoice
  const paidAt = { named, address, units, payments }
  return { id, orderId, state, coin, network, refundTo, amount, paidAt, returns, price }
}

test('an order that was paid in a coin moves with its checkout, and the books say the same', async () => {
  const checkout = await closedLongAgo()
  const before = await bookKept()
  expect(before.wrong).toEqual([[], [], []])
  const [line = ''] = await archiveAll()
  expect(await bookKept()).toEqual(before)
  for (const table of ['orders', 'ledger', 'checkouts', 'checkout_events', 'checkout_ledger']) {
    expect(await countOf(table), table).toBe(0)
  }
  const { checkout: kept } = JSON.parse(line)
  expect(kept.row.id).toBe(checkout.id)
  expect([kept.events.length > 4, kept.ledger.length > 2, kept.grants.length]).toEqual([
    true,
    true,
    1,
  ])
})

test('it stays until its checkout is closed, bare of personal fields, and has no payout that waits', async () => {
  const sent = await delivered()
  await endedLongAgo(pool)
  expect(await archiveAll()).toEqual([])
  await moveOn(records, sent, closed(sent))
  expect(await archiveAll()).toEqual([])
  await endedLongAgo(pool)
  const record = createPayoutRecord(pool)
  await record.waits(returnReference(sent.id, 1), 1)
  expect(await archiveAll()).toEqual([])
  await record.rests(returnReference(sent.id, 1))
  expect(await archiveAll()).toHaveLength(1)
})

test('what was noted of its payouts is in its file, and stays', async () => {
  const { id, orderId, refundTo } = await closedLongAgo()
  const reference = returnReference(id, 1)
  const seen = { pullPayments: ['pull'], payouts: ['payout'] }
  await createPayoutRecord(pool).keep(reference, seen)
  const hands = createHandPayouts(pool)
  const made = { coin: 'BTC', units: 1n, to: refundTo, transaction: 'aa', transfer: 1 } as const
  await hands.note({ ...made, reference: orderId, by: 'ada' })
  const [line = ''] = await archiveAll()
  const { payouts, handPayouts } = JSON.parse(line).checkout
  expect([payouts, handPayouts]).toMatchObject([[{ reference }], [{ reference: orderId }]])
  expect(await createPayoutRecord(pool).find(reference)).toEqual(seen)
  expect(await hands.find(orderId)).toBe('aa')
})

describe('an archived checkout', () => {
  let checkout: CheckoutIn<'ORDERED'>

  beforeEach(async () => {
    checkout = await closedLongAgo()
    await archiveAll()
  })

  it('is told to be archived to whoever asks for it or its order', async () => {
    const { store, orders } = records()
    const said = { code: 'order_not_found', message: expect.stringContaining('archived') }
    await expect(store.find(checkout.id)).rejects.toMatchObject(said)
    await expect(orders.find(checkout.orderId)).rejects.toMatchObject(said)
    const [, late] = checkout.invoice.payments
    const found = [
      await store.findByTransaction(late?.transaction.toUpperCase() ?? ''),
      await store.findByAddress(checkout.invoice.address),
    ]
    const { orderId } = checkout
    expect(found).toMatchObject([{ orderId }, { orderId }])
  })

  it('does not begin again when its form is sent again, and its payment opens no order', async () => {
    const { id, orderId, formKeyHash } = checkout
    const again = opening({ id, orderId, formKeyHash })
    await expect(records().store.open(again)).rejects.toMatchObject({ code: 'order_not_found' })
    const { tender } = orderOf(checkout)
    await expect(records().orders.findByPayment(paymentKeyOf(tender))).rejects.toMatchObject({
      code: 'payment_reused',
      details: { charged: 'yes' },
    })
    expect(await countOf('checkouts')).toBe(0)
  })

  it.each([
    'update archived_checkouts set returned = 1',
    'delete from archived_checkouts',
    'truncate archived_checkouts',
  ])('is kept: %s is refused', async (sql) => {
    await expect(pool.query(sql)).rejects.toThrow('keeps what was written')
  })

  it('has books that a changed row contradicts', async () => {
    await pool.query(`begin; set local session_replication_role = replica;
      update archived_checkouts set returned = returned - 1; commit`)
    expect(await createCheckoutRecord(pool).misbooked()).toMatchObject([
      { checkout: checkout.id, account: 'returned', booked: 1n - surplus, due: -surplus },
    ])
  })
})

describe('a checkout that became no order', () => {
  /** An underpaid checkout that ended, with its payment returned. */
  async function sentBack(): Promise<CheckoutIn<'ENDED'>> {
    const open = await openOnRecord(records)
    const over = await moveOn(records, open, ended(open, [payment(surplus)]))
    const due = await moveOn(records, over, returning(over, surplus))
    expect(await createPayoutLimits(pool, caps).allow(returnReference(due.id, 1))).toBe('granted')
    const sending = await moveOn(records, due, stepping(due, 'APPROVED'))
    return moveOn(records, sending, stepping(sending, 'CONFIRMED'))
  }

  async function overLongAgo(): Promise<CheckoutIn<'ENDED'>> {
    const sent = await sentBack()
    const over = await moveOn(records, sent, closed(sent))
    await endedLongAgo(pool)
    return over
  }

  it('moves with all that belongs to it, and the books say the same', async () => {
    const { id, invoice, orderId } = await overLongAgo()
    const before = await bookKept()
    expect(before.wrong).toEqual([[], [], []])
    expect(before.coins.get('BTC')).toMatchObject({ received: surplus, returned: -surplus })
    const archive = createArchive(pool)
    expect(await archive.left(new Date())).toBe(1)
    const [line = ''] = await archiveAll()
    expect(await archive.left(new Date())).toBe(0)
    const after = await bookKept()
    expect({ ...after, checkouts: after.checkouts.map(withoutPrice) }).toEqual({
      ...before,
      checkouts: before.checkouts.map(withoutPrice),
    })
    for (const table of ['checkouts', 'checkout_events', 'checkout_ledger', 'return_grants']) {
      expect(await countOf(table), table).toBe(0)
    }
    const { checkout } = JSON.parse(line)
    expect(checkout.row.id).toBe(id)
    expect([checkout.events.length, checkout.ledger.length, checkout.grants.length]).toEqual([
      expect.any(Number),
      4,
      1,
    ])
    for (const name of [id, invoice.payments[0]?.transaction ?? '']) {
      expect(await archive.fileOf(name), name).toMatchObject({ id })
    }
    await expect(records().store.find(id)).rejects.toMatchObject({ code: 'order_not_found' })
    expect(await records().store.findByAddress(invoice.address)).toMatchObject({ orderId })
  })

  it('stays until it is closed, bare of personal fields, and has no payout that waits', async () => {
    const sent = await sentBack()
    await endedLongAgo(pool)
    expect(await archiveAll()).toEqual([])
    await moveOn(records, sent, closed(sent))
    expect(await archiveAll()).toEqual([])
    await endedLongAgo(pool)
    const record = createPayoutRecord(pool)
    await record.waits(returnReference(sent.id, 1), 1)
    expect(await archiveAll()).toEqual([])
    await record.rests(returnReference(sent.id, 1))
    expect(await archiveAll()).toHaveLength(1)
  })

  it('that nobody paid is not archived, because it is deleted', async () => {
    const open = await openOnRecord(records)
    const over = await moveOn(records, open, ended(open))
    await moveOn(records, over, closed(over))
    await endedLongAgo(pool)
    expect(await archiveAll()).toEqual([])
    expect(await createArchive(pool).left(new Date())).toBe(0)
  })

  it('is archived whole or not at all, and only into a file that is open', async () => {
    const { id } = await overLongAgo()
    const into = `insert into archives (file, sha256, orders) values ('f', repeat('a', 64), 1)`
    await pool.query(into)
    const insert = 'insert into archived_checkouts (id, archive) select $1, id from archives'
    await expect(pool.query(insert, [id])).rejects.toThrow('archived in part')
    const withoutFile = 'insert into archived_checkouts (id) values ($1)'
    await expect(pool.query(withoutFile, [id])).rejects.toThrow('may not be archived')
    await pool.query('update archives set done_at = now()')
    await expect(pool.query(insert, [id])).rejects.toThrow('its archive is closed')
  })
})

/** An archived checkout has the price 0 in place of none. */
const withoutPrice = ({ price: _, ...rest }: ReturnType<typeof essence>) => rest

test('nothing is taken out of the tables of checkouts that is not archived, or in part', async () => {
  const { id, orderId } = await closedLongAgo()
  for (const table of ['return_grants', 'checkout_ledger', 'checkout_events', 'checkouts']) {
    for (const sql of [`delete from ${table}`, `truncate ${table} cascade`]) {
      await expect(pool.query(sql)).rejects.toThrow('keeps what was written')
    }
  }
  const alone = 'insert into archived_checkouts (id) values ($1)'
  await expect(pool.query(alone, [id])).rejects.toThrow('may not be archived')
  const into = `insert into archives (file, sha256, orders) values ('f', repeat('a', 64), 1)`
  await pool.query(into)
  const order = 'insert into archived_orders (id, archive) select $1, id from archives'
  await expect(pool.query(order, [orderId])).rejects.toThrow('archived in part')
  const gone = ['ledger', 'order_events'].map((table) => `delete from ${table};`).join(' ')
  const halfMoved = `begin; ${order.replace('$1', `'${orderId}'`)}; ${gone} delete from orders; commit`
  await expect(pool.query(halfMoved)).rejects.toThrow('archived in part')
})
