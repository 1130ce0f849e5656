import type { Pool } from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { onChain } from '../../../test/doubles/orders.ts'
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
import { usdc } from '../../lib/money.ts'
import type { Order } from '../../orders/order.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createMovements, createStoreRecord } from './record.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})
/** Empties the tables, which only a test may do. */
beforeEach(() =>
  pool.query(`set session_replication_role = replica;
    truncate orders, payments, order_events, ledger, idempotency_keys cascade;
    set session_replication_role = default`),
)

const record = () => createStoreRecord(pool)
const begin = (nonce: string, payer = newX402Payment().payer) =>
  pending({ tender: { ...newX402Payment(), payer, nonce, sinceBlock: 50 } })

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

test('a record without orders knows no block', async () => {
  expect(await record().newestBlock()).toBeUndefined()
  expect(await record().oldestBlock()).toBeUndefined()
  expect(await all()).toEqual([])
  expect(await record().ledger('x402')).toEqual({
    received: 0n,
    open: 0n,
    delivered: 0n,
    refunded: 0n,
  })
})

test('the newest block is that of a payment, and the oldest that of one which may still come', async () => {
  await stored(inBlock(paid(begin('0x1')), 9))
  await stored(inBlock(paid(begin('0x2')), 1_000))
  expect(await record().newestBlock()).toBe(1_000)
  expect(await record().oldestBlock()).toBe(9)
  await stored({ ...begin('0x3'), tender: { ...onChain(begin('0x3').tender), sinceBlock: 4 } })
  expect(await record().oldestBlock()).toBe(4)
  expect(await record().newestBlock()).toBe(1_000)
})

test('the newest block is found without reading the orders', async () => {
  const client = await pool.connect()
  await client.query('set enable_seqscan = off')
  const { rows } = await client.query(`explain select max((doc #>> '{receipt,block}')::bigint)
    from orders where transaction_hash is not null`)
  await client.query('set enable_seqscan = on')
  client.release()
  expect(JSON.stringify(rows)).toContain('orders_by_block')
})

test('orders are found by payment and by id, and listed whole', async () => {
  const orders = [await stored(begin('0x1')), await stored(paid(begin('0x2')))]
  const keys = orders.map(({ tender }) => paymentKeyOf(tender))
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

test('what a rebuild writes is held to the rules of the database', async () => {
  const delivered = await stored(fulfilled(fulfilling(paid(begin('0x1')))))
  const refund = { state: 'CONFIRMED', transaction: '0xr', confirmedAt: new Date() } as const
  const stolen = { ...failed(fulfilling(paid(begin('0x1')))), id: delivered.id, refund }
  const write = record().atOnce((orders) => orders.move(delivered, stolen))
  await expect(write).rejects.toThrow(/decided to DELIVER, for good/)
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

test.each([
  [{ reason: '   ', by: 'Ann Smith' }, {}],
  [{ reason: 'Float back', by: ' ' }, {}],
  [{ reason: 'Float back', by: 'Ann Smith' }, { transaction: '0x12' }],
  [{ reason: 'Float back', by: 'Ann Smith' }, { to: 'nobody' }],
])(
  'the table takes no movement without a reason, a person and a transfer: %j %j',
  async (why, odd) => {
    const said = createMovements(pool).acknowledge({ ...movement, ...odd }, why)
    await expect(said).rejects.toThrow('violates check constraint')
  },
)
