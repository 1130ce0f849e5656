import type { Pool } from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { onChain } from '../../../test/doubles/orders.ts'
import {
  closed,
  ended,
  moveOn,
  opened,
  opening,
  openOnRecord,
  payment,
  placedOnRecord,
  returning,
  stepping,
} from '../../../test/fixtures/sample-checkouts.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  newX402Payment,
  orderOnRecord,
  paid,
  paymentFailed,
  pending,
  refunded,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import type { Checkout } from '../../checkouts/checkout.ts'
import { usdc } from '../../lib/money.ts'
import type { Order } from '../../orders/order.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import { createCheckoutStore } from './checkouts.ts'
import { checkoutFacts } from './facts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createCheckoutRecord, createMovements, createStoreRecord } from './record.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})
/** Empties the tables, which only a test may do. */
beforeEach(() =>
  pool.query(`set session_replication_role = replica;
    truncate orders, payments, order_events, ledger, idempotency_keys, checkouts cascade;
    set session_replication_role = default`),
)

const record = () => createStoreRecord(pool)
const begin = (nonce: string, payer = newX402Payment().payer) =>
  pending({ payment: { ...newX402Payment(), payer, nonce, sinceBlock: 50 } })

/** Records an order through the store. */
const stored = (target: Order) => orderOnRecord(createOrderStore(pool), target)

function inBlock(order: ReturnType<typeof paid>, block: number) {
  return { ...order, receipt: { ...order.receipt, block } }
}

async function all(): Promise<string[]> {
  const ids: string[] = []
  for await (const page of record().orders()) ids.push(...page.map(({ id }) => id))
  return ids
}

test('the newest block is that of a payment, and the oldest that of one which may still come', async () => {
  await stored(inBlock(paid(begin('0x1')), 9))
  await stored(inBlock(paid(begin('0x2')), 1_000))
  expect(await record().newestBlock()).toBe(1_000)
  expect(await record().oldestBlock()).toBe(9)
  await stored({ ...begin('0x3'), payment: { ...onChain(begin('0x3').payment), sinceBlock: 4 } })
  expect(await record().oldestBlock()).toBe(4)
  expect(await record().newestBlock()).toBe(1_000)
})

test('orders are found by payment and by id, and listed whole', async () => {
  const orders = [await stored(begin('0x1')), await stored(paid(begin('0x2')))]
  const keys = orders.map(({ payment }) => paymentKeyOf(payment))
  const found = await record().byPayments([...keys, 'another'])
  expect(found.map(({ id }) => id).sort()).toEqual(orders.map(({ id }) => id).sort())
  expect(await record().byIds(orders.slice(1).map(({ id }) => id))).toEqual(orders.slice(1))
  expect(await all()).toEqual(orders.map(({ id }) => id).sort())
  expect(await record().byPayments([])).toEqual([])
})

test('more orders than a page are listed once each', async () => {
  await stored(paid(begin('0x1')))
  await pool.query(`set session_replication_role = replica;
    insert into orders select 'ord_' || n, 'pay_' || n, 1, gen_random_uuid(),
      state, null, null, kind, offer_id, payer, amount, null, null, null, placed_at, changed_at,
      null, now(), now(), null, null, jsonb_set(doc, '{id}', to_jsonb('ord_' || n)), settlement
    from orders, generate_series(1, 2500) as n;
    set session_replication_role = default`)
  const ids = await all()
  expect(ids).toHaveLength(2_501)
  expect(new Set(ids).size).toBe(2_501)
})

test('of a wallet’s orders, those are decided that can never be delivered any more', async () => {
  const payer = `0x${'Cd'.repeat(20)}`
  const asking = (nonce: string) => fulfilling(paid(begin(nonce, payer)))
  const decided = [
    await stored(fulfilled(asking('0x1'))),
    await stored(failed(asking('0x2'))),
    await stored(paymentFailed(begin('0x3', payer))),
  ]
  const open = [await stored(begin('0x4', payer)), await stored(asking('0x5'))]
  await stored(failed(fulfilling(paid(begin('0x6')))))
  const ids = (orders: readonly Order[]) => orders.map(({ id }) => id).sort()
  const wallet = [payer.toLowerCase()]
  expect([...(await record().idsOf(wallet, 'decided'))].sort()).toEqual(ids(decided))
  expect([...(await record().idsOf(wallet, 'all'))].sort()).toEqual(ids([...decided, ...open]))
})

test('the ledger sums up, and names the order whose entries were changed', async () => {
  const asking = (nonce: string) => fulfilling(paid(begin(nonce)))
  await stored(fulfilled(asking('0x1')))
  const given = await stored(failed(asking('0x2')))
  if (given.state !== 'FULFILLMENT_FAILED') throw new Error('It was given up')
  await createOrderStore(pool).move(given, refunded(given))
  const open = await stored(paid(begin('0x3')))
  expect(await record().ledger('x402')).toEqual({
    received: 37_500_000n,
    open: -12_500_000n,
    delivered: -12_500_000n,
    refunded: -12_500_000n,
  })
  expect(await record().misbooked()).toEqual([])
  await pool.query(`set session_replication_role = replica;
    update ledger set amount = amount - 1 where order_id = '${open.id}' and account = 'open';
    set session_replication_role = default`)
  expect(await record().misbooked()).toEqual([
    { order: open.id, account: 'open', booked: -12_500_001n, due: -12_500_000n },
  ])
})

test('writes that are made at once count together or not at all', async () => {
  const order = paid(begin('0x1'))
  const [first, second] = wayTo(order)
  if (first?.state !== 'PAYMENT_PENDING' || !second) throw new Error('An order is opened and paid')
  const half = record().atOnce(async (orders) => {
    await orders.open(first, [])
    throw new Error('the power went')
  })
  await expect(half).rejects.toThrow('the power went')
  expect(await all()).toEqual([])
  await record().atOnce(async (orders) => {
    const opened = await orders.open(first, [])
    await orders.move(opened.order, second)
  })
  expect(await record().byIds([first.id])).toMatchObject([{ state: 'PAID', version: 2 }])
})

const movement = {
  transaction: `0x${'ab'.repeat(32)}`,
  block: 7,
  logIndex: 3,
  from: `0x${'01'.repeat(20)}`,
  to: `0x${'02'.repeat(20)}`,
  amount: usdc(5_000_000n),
}

test('what a person vouches for is kept with the reason that was given first', async () => {
  const movements = createMovements(pool)
  await movements.acknowledge(movement, { reason: 'Float back', by: 'Ann Smith' })
  await movements.acknowledge(movement, { reason: 'Something else', by: 'Bob' })
  await movements.acknowledge({ ...movement, logIndex: 5 }, { reason: 'Too', by: 'Bob' })
  const { transaction } = movement
  expect(await movements.acknowledged()).toEqual([
    { transaction, logIndex: 3, reason: 'Float back', by: 'Ann Smith' },
    { transaction, logIndex: 5, reason: 'Too', by: 'Bob' },
  ])
})

const checkoutRecord = () => createCheckoutRecord(pool)
const records = () => ({ store: createCheckoutStore(pool), orders: createOrderStore(pool) })

/** Runs SQL that the triggers would refuse. */
function byHand(sql: string) {
  return pool.query(`begin; set local session_replication_role = replica; ${sql}; commit`)
}

async function allCheckouts(): Promise<Checkout[]> {
  const found: Checkout[] = []
  for await (const page of checkoutRecord().all()) found.push(...page)
  return found
}

test('checkouts are listed whole', async () => {
  const open = await openOnRecord(records)
  expect(await allCheckouts()).toEqual([open])
})

test('the ledger sums up each coin, and names the checkout whose entries were changed', async () => {
  const placed = await placedOnRecord(records)
  const open = await openOnRecord(records)
  const part = await moveOn(records, open, returning(ended(open, [payment(900n)]), 900n))
  const first = opening({ coin: 'XMR' })
  const { checkout } = await records().store.open(first)
  await moveOn(records, checkout, opened(first, { payments: [payment(7n)] }))
  const none = { received: 0n, price: 0n, due: 0n, returned: 0n, kept: 0n }
  expect(await checkoutRecord().ledger()).toEqual(
    new Map([
      ['BTC', { ...none, received: 13_400n, price: -12_500n, due: -900n }],
      ['XMR', { ...none, received: 7n, due: -7n }],
    ]),
  )
  expect(await checkoutRecord().misbooked()).toEqual([])
  await byHand(`update checkout_ledger set units = units - 1
    where checkout_id = '${part.id}' and account = 'due';
    delete from checkout_ledger where checkout_id = '${placed.id}' and account = 'price'`)
  const found = await checkoutRecord().misbooked()
  expect(found).toHaveLength(2)
  expect(found).toContainEqual({
    ...{ checkout: part.id, coin: 'BTC', account: 'due', booked: -901n, due: -900n },
  })
  expect(found).toContainEqual({
    ...{ checkout: placed.id, coin: 'BTC', account: 'price', booked: 0n, due: -12_500n },
  })
})

test('an order of an invoice that no checkout has decided on is a stray', async () => {
  const placed = await placedOnRecord(records)
  expect(await checkoutRecord().strayOrders()).toEqual([])
  await byHand(`update checkouts set state = 'ENDED', price = null, is_placed = null,
    doc = jsonb_set(doc, '{state}', '"ENDED"') where id = '${placed.id}'`)
  expect(await checkoutRecord().strayOrders()).toEqual([placed.orderId])
})

test('what is under way is counted, and nothing that is closed', async () => {
  const none = { returnsFailed: 0, oldestReturnSince: undefined, payoutsLate: 0 }
  expect(await checkoutFacts(pool)).toEqual({ openByState: {}, ...none })
  const back = async () => {
    const open = await openOnRecord(records)
    return moveOn(records, open, returning(ended(open, [payment(900n)]), 900n))
  }
  const first = await back()
  const failed = await back()
  await moveOn(records, failed, stepping(failed, 'FAILED'))
  await placedOnRecord(records)
  const over = await openOnRecord(records)
  await moveOn(records, over, closed(ended(over)))
  await openOnRecord(records)
  const { rows } = await pool.query(
    'select at from checkout_events where checkout_id = $1 and seq = 3',
    [first.id],
  )
  expect(await checkoutFacts(pool)).toEqual({
    openByState: { OPEN: 1, ORDERED: 1, ENDED: 2 },
    ...{ returnsFailed: 1, oldestReturnSince: rows[0].at, payoutsLate: 0 },
  })
})
