import type { Pool } from 'pg'
import type { OrderId } from '../../lib/ids.ts'
import type { Account } from '../../orders/ledger.ts'
import type { Order } from '../../orders/order.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Misbooked, OrderWriter, StoreRecord } from '../../reconcile/ports.ts'
import type { Database } from './database.ts'
import { readGoodwill } from './goodwill.ts'
import { orderColumns, type StoredOrder } from './order-reads.ts'
import { orderOf } from './order-row.ts'
import { createOrderStore } from './orders.ts'
import { atOnce } from './transaction.ts'

/** Orders per query: a few megabytes. */
const pageSize = 1_000

/** Reads the recorded orders, to compare them with the chain and the supplier. */
export function createStoreRecord(pool: Pool): StoreRecord {
  return {
    oldestBlock: () => numberOf(pool, oldestSql),
    newestBlock: () => numberOf(pool, newestSql),
    byPayments: (keys) =>
      ordersOf(
        pool,
        `select ${orderColumns} from orders
         where id = any (array (select order_id from payments where payment_key = any ($1::text[])))`,
        [keys],
      ),
    byIds: (ids) =>
      ordersOf(pool, `select ${orderColumns} from orders where id = any ($1::text[])`, [ids]),
    idsOf: (payers, which) => idsOf(pool, payers, which),
    orders: () => allOrders(pool),
    ledger: (rail) => ledger(pool, rail),
    misbooked: () => misbooked(pool),
    goodwill: () => readGoodwill(pool),
    atOnce: (work) => rebuilding(pool, work),
  }
}

/** The payment of a pending order may be in any block since the order was opened. */
const oldestSql = `select least(
  (select min((doc #>> '{receipt,block}')::bigint) from orders where transaction_hash is not null),
  (select min((doc #>> '{tender,sinceBlock}')::bigint) from orders
    where state = 'PAYMENT_PENDING')) as number`

const newestSql = `
  select max((doc #>> '{receipt,block}')::bigint) as number from orders where transaction_hash is not null`

async function numberOf(database: Database, sql: string): Promise<number | undefined> {
  const { rows } = await database.query<{ number: string | null }>(sql)
  const number = rows[0]?.number
  return number === null || number === undefined ? undefined : Number(number)
}

async function ordersOf(
  database: Database,
  sql: string,
  values: unknown[],
): Promise<readonly Order[]> {
  const { rows } = await database.query<StoredOrder>(sql, values)
  return rows.map(orderOf)
}

async function idsOf(
  database: Database,
  payers: readonly string[],
  which: 'all' | 'decided',
): Promise<readonly OrderId[]> {
  const decided = which === 'decided' ? `and (outcome is not null or state = 'PAYMENT_FAILED')` : ''
  const { rows } = await database.query<{ id: OrderId }>(
    `select id from orders where payer = any ($1::text[]) ${decided}
     union
     select id from goodwill where payer = any ($1::text[])`,
    [payers],
  )
  return rows.map(({ id }) => id)
}

async function* allOrders(database: Database): AsyncGenerator<readonly Order[]> {
  let after = ''
  for (;;) {
    const page = await ordersOf(
      database,
      `select ${orderColumns} from orders where id > $1 order by id limit $2`,
      [after, pageSize],
    )
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.id
  }
}

const ledgerSql = `
  select account, sum(ledger.amount)::text as sum from ledger join orders on id = order_id
  where doc #>> '{tender,rail}' = $1 group by account`

async function ledger(database: Database, rail: Payment['rail']): Promise<Record<Account, bigint>> {
  const { rows } = await database.query<{ account: Account; sum: string }>(ledgerSql, [rail])
  const sums = { received: 0n, open: 0n, delivered: 0n, refunded: 0n }
  for (const { account, sum } of rows) sums[account] = BigInt(sum)
  return sums
}

/** Checks for all orders, at one moment, the rule that the database enforces at every commit. */
const misbookedSql = `
  with booked as (
    select order_id, account, sum(amount) as sum from ledger
    group by order_id, account having sum(amount) <> 0
  ), due as (
    select id, amount, case when outcome = 'DELIVER' then 'delivered'
      when refund_state = 'REFUNDED' then 'refunded' else 'open' end as held_in
    from orders where settlement in ('SEEN', 'FINAL')
  ), entries as (
    select id, 'received' as account, amount as sum from due
    union all select id, held_in, -amount from due
  )
  select coalesce(order_id, id) as order, coalesce(booked.account, entries.account) as account,
    coalesce(booked.sum, 0)::text as booked, coalesce(entries.sum, 0)::text as due
  from booked full join entries on id = order_id and entries.account = booked.account
  where booked.sum is distinct from entries.sum
  order by 1, 2`

async function misbooked(database: Database): Promise<readonly Misbooked[]> {
  type Row = { order: OrderId; account: Account; booked: string; due: string }
  const { rows } = await database.query<Row>(misbookedSql)
  return rows.map(({ booked, due, ...row }) => ({
    ...row,
    booked: BigInt(booked),
    due: BigInt(due),
  }))
}

function rebuilding<T>(pool: Pool, work: (orders: OrderWriter) => Promise<T>): Promise<T> {
  return atOnce(pool, async (client) => {
    // Limits apply to new purchases, not to a record that is rebuilt (003-limits.sql).
    await client.query("set local kiosk402.rebuilding = 'on'")
    return work(createOrderStore(client))
  })
}
