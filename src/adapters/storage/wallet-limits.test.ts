import type { Pool } from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { newX402Payment, pending } from '../../../test/contract/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import { LimitReached } from '../../orders/ports.ts'
import type { Rules } from '../../orders/spending-limits/rules.ts'
import { createLimitStore } from './limits.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createStoreRecord } from './record.ts'

const postgres = migratedPostgres()
let pool: Pool
let wallets = 0
let payer = ''

beforeAll(async () => {
  pool = await postgres.open()
})
beforeEach(() => {
  wallets += 1
  payer = `0x${String(wallets).padStart(40, '0')}`
})

const order = () => pending({ amount: usdc(10n), tender: { ...newX402Payment(), payer } })

async function set(inForce: Rules): Promise<void> {
  const limits = createLimitStore(pool)
  expect(await limits.replace(payer, await limits.find(payer), { inForce })).toBe(true)
}

async function counts(): Promise<unknown[]> {
  const tables = ['payments', 'orders', 'idempotency_keys', 'order_events']
  const read = tables.map((table) => pool.query(`select count(*)::int as rows from ${table}`))
  return (await Promise.all(read)).map(({ rows }) => rows[0].rows)
}

test('a refused order leaves no row of anything', async () => {
  await set({ perOrder: usdc(9n) })
  const before = await counts()
  await expect(createOrderStore(pool).open(order(), ['k'])).rejects.toThrow(LimitReached)
  expect(await counts()).toEqual(before)
})

test('an order that is written by hand is held to the limits too', async () => {
  await createOrderStore(pool).open(order(), [])
  await set({ perDay: usdc(19n) })
  const copySql = `insert into orders select (jsonb_populate_record(orders, jsonb_build_object(
    'id', 'ord_copied', 'payment_id', 'pay_copied'))).* from orders where payer = $1`
  await expect(pool.query(copySql, [payer])).rejects.toMatchObject({
    code: 'KS001',
    detail: 'per_day',
  })
})

test('who receives an order is told to the check, and not kept', async () => {
  await set({ recipients: ['the digest'] })
  const { id } = (await createOrderStore(pool).open(order(), [], { recipient: 'the digest' })).order
  const { rows } = await pool.query('select orders::text as text from orders where id = $1', [id])
  expect(rows[0].text).not.toContain('the digest')
  const keep = `update orders set version = version + 1, recipient_digest = 'x' where id = $1`
  await expect(pool.query(keep, [id])).rejects.toThrow('orders_keep_no_recipient_digest')
})

test('a record that is rebuilt is held to no limit, and the next purchase is again', async () => {
  await set({ perOrder: usdc(9n) })
  const rebuilt = order()
  const { isNew } = await createStoreRecord(pool).atOnce((orders) => orders.open(rebuilt, []))
  expect(isNew).toBe(true)
  const orders = createOrderStore(pool)
  for (let again = 0; again < 8; again += 1) {
    await expect(orders.open(order(), [])).rejects.toThrow(LimitReached)
  }
})

/** A connection with a transaction that stays open until `commit`. */
async function held() {
  const client = await pool.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  await client.query('begin')
  const blocked = `select count(*)::int as count from pg_stat_activity
    where $1 = any (pg_blocking_pids(pid))`
  return {
    database: client as unknown as Pool,
    waiting: async () => (await pool.query(blocked, [rows[0].pid])).rows[0].count,
    commit: async () => {
      await client.query('commit')
      client.release()
    },
  }
}

test('a purchase waits for limits that are being changed, and is held to the new ones', async () => {
  await set({ perOrder: usdc(10n) })
  const changing = await held()
  const limits = createLimitStore(changing.database)
  const tighter = { inForce: { perOrder: usdc(9n) } }
  expect(await limits.replace(payer, await limits.find(payer), tighter)).toBe(true)
  const opened = createOrderStore(pool).open(order(), [])
  const refused = expect(opened).rejects.toThrow(LimitReached)
  await expect.poll(changing.waiting).toBe(1)
  await changing.commit()
  await refused
})

test('a purchase waits for the first limits of its wallet too', async () => {
  const changing = await held()
  const first = { inForce: { perOrder: usdc(9n) } }
  expect(await createLimitStore(changing.database).replace(payer, undefined, first)).toBe(true)
  const opened = createOrderStore(pool).open(order(), [])
  const refused = expect(opened).rejects.toThrow(LimitReached)
  await expect.poll(changing.waiting).toBe(1)
  await changing.commit()
  await refused
})

test('the first limits wait for purchases that are being opened, so that these are counted', async () => {
  const buying = await held()
  expect((await createOrderStore(buying.database).open(order(), [])).isNew).toBe(true)
  const orders = createOrderStore(pool)
  const isSet = set({ perDay: usdc(19n) })
  await expect.poll(buying.waiting).toBe(1)
  await buying.commit()
  await isSet
  await expect(orders.open(order(), [])).rejects.toThrow(LimitReached)
})
