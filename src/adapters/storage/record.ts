import type { Pool } from 'pg'
import { type Checkout, type CheckoutAccount, checkoutAccounts } from '../../checkouts/checkout.ts'
import type { OrderId } from '../../lib/ids.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { Account, Order } from '../../orders/order.ts'
import type { Coin } from '../../payments/coins.ts'
import type {
  CheckoutRecord,
  CoinSums,
  Misbooked,
  MisbookedCheckout,
  Movements,
  StoreRecord,
} from '../../reconcile/ports.ts'
import { noteAct } from './audit.ts'
import { checkoutColumns, checkoutOf, type StoredCheckout } from './checkouts.ts'
import { type Database, inTransaction } from './database.ts'
import { readGoodwill } from './goodwill.ts'
import { createOrderStore, orderColumns, orderOf, type StoredOrder } from './orders.ts'

const pageSize = 1_000

async function* pages<Row, Item extends { readonly id: string }>(
  database: Database,
  table: string,
  itemOf: (row: Row) => Item,
): AsyncGenerator<readonly Item[]> {
  let after = ''
  for (;;) {
    const sql = `select ${table} where id > $1 order by id limit $2`
    const { rows } = await database.query(sql, [after, pageSize])
    const page = (rows as Row[]).map(itemOf)
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.id
  }
}

export function createStoreRecord(pool: Pool): StoreRecord {
  const numberOf = async (sql: string) => {
    const { rows } = await pool.query<{ number: string | null }>(sql)
    const number = rows[0]?.number ?? undefined
    return number === undefined ? undefined : Number(number)
  }
  const ordersWhere = async (condition: string, values: readonly string[]) => {
    const sql = `select ${orderColumns} from orders where ${condition}`
    const { rows } = await pool.query<StoredOrder>(sql, [values])
    return rows.map(orderOf)
  }
  return {
    oldestBlock: () => numberOf(oldestSql),
    newestBlock: () => numberOf(newestSql),
    byPayments: (keys) =>
      ordersWhere(
        'id = any (array (select order_id from payments where payment_key = any ($1::text[])))',
        keys,
      ),
    byIds: (ids) => ordersWhere('id = any ($1::text[])', ids),
    async idsOf(payers, which) {
      const decided = `and (outcome is not null or state = 'PAYMENT_FAILED')`
      const { rows } = await pool.query<{ id: OrderId }>(
        `select id from orders where payer = any ($1::text[]) ${which === 'decided' ? decided : ''}
         union
         select id from goodwill where payer = any ($1::text[])`,
        [payers],
      )
      return rows.map(({ id }) => id)
    },
    orders: () => pages<StoredOrder, Order>(pool, `${orderColumns} from orders`, orderOf),
    ledger: async (method) => {
      const { rows } = await pool.query<{ account: Account; sum: string }>(ledgerSql, [method])
      const sums = { received: 0n, open: 0n, delivered: 0n, refunded: 0n }
      for (const { account, sum } of rows) sums[account] = BigInt(sum)
      return sums
    },
    misbooked: () => misbooked<Misbooked>(pool, misbookedSql),
    goodwill: () => readGoodwill(pool),
    atOnce: (work) =>
      inTransaction(pool, async (client) => {
        // Limits apply to new purchases, not to a record that is rebuilt.
        await client.query("set local kiosk402.rebuilding = 'on'")
        return work(createOrderStore(client))
      }),
  }
}

/** The payment of a pending order may be in any block since the order was opened. */
const oldestSql = `select least(
  (select min((doc #>> '{receipt,block}')::bigint) from orders where transaction_hash is not null),
  (select min((doc #>> '{payment,sinceBlock}')::bigint) from orders
    where state = 'PAYMENT_PENDING')) as number`

const newestSql = `
  select max((doc #>> '{receipt,block}')::bigint) as number from orders where transaction_hash is not null`

const ledgerSql = `
  select account, sum(ledger.amount)::text as sum from ledger join orders on id = order_id
  where doc #>> '{payment,method}' = $1 group by account`

const misbookedSql = `
  with booked as (
    select order_id, account, sum(amount) as sum from ledger
    group by order_id, account having sum(amount) <> 0
  )
  select order_id as order, account, coalesce(booked.sum, 0)::text as booked, coalesce(due.sum, 0)::text as due
  from booked full join order_balances due using (order_id, account)
  where booked.sum is distinct from due.sum
  order by 1, 2`

async function misbooked<T extends { readonly booked: bigint; readonly due: bigint }>(
  database: Database,
  sql: string,
): Promise<readonly T[]> {
  const { rows } = await database.query<{ booked: string; due: string }>(sql)
  return rows.map((row) => ({ ...row, booked: BigInt(row.booked), due: BigInt(row.due) }) as T)
}

export function createCheckoutRecord(database: Database): CheckoutRecord {
  return {
    all: () =>
      pages<StoredCheckout, Checkout>(database, `${checkoutColumns} from checkouts`, checkoutOf),
    async strayOrders() {
      const { rows } = await database.query<{ id: OrderId }>(
        `select id from orders where doc #>> '{payment,method}' = 'btcpay' and not exists (
           select from checkouts where order_id = orders.id and state = 'ORDERED')
         order by id`,
      )
      return rows.map(({ id }) => id)
    },
    async ledger() {
      type Row = { coin: Coin; account: CheckoutAccount; sum: string }
      const { rows } = await database.query<Row>(
        `select coin, account, sum(units)::text as sum
         from checkout_ledger join checkouts on id = checkout_id
         group by coin, account order by coin`,
      )
      const none = Object.fromEntries(checkoutAccounts.map((account) => [account, 0n]))
      const byCoin = new Map<Coin, CoinSums>()
      for (const { coin, account, sum } of rows) {
        const sums = byCoin.get(coin) ?? (none as unknown as CoinSums)
        byCoin.set(coin, { ...sums, [account]: BigInt(sum) })
      }
      return byCoin
    },
    misbooked: () => misbooked<MisbookedCheckout>(database, misbookedCheckoutsSql),
  }
}

const misbookedCheckoutsSql = `
  with booked as (
    select checkout_id, account, sum(units) as sum from checkout_ledger
    group by checkout_id, account having sum(units) <> 0
  )
  select checkout_id as checkout, coin, account, coalesce(booked.sum, 0)::text as booked,
    coalesce(due.sum, 0)::text as due
  from booked full join checkout_balances due using (checkout_id, account)
    join checkouts on id = checkout_id
  where booked.sum is distinct from due.sum
  order by 1, 3`

export function createMovements(database: Pool): Movements {
  return {
    async acknowledged() {
      const { rows } = await database.query(
        `select transaction_hash as transaction, log_index as "logIndex", reason, acknowledged_by as by
         from acknowledged_movements`,
      )
      return rows
    },
    async acknowledge({ transaction, logIndex, from, to, amount }, { reason, by }) {
      const entry = { act: 'reconcile acknowledge', subject: `transaction:${transaction}`, reason }
      await inTransaction(database, async (client) => {
        await client.query(
          `insert into acknowledged_movements values ($1, $2, $3, $4, $5, $6, $7, now())
           on conflict do nothing`,
          [transaction, logIndex, from, to, amount.toString(), reason, by],
        )
        await noteAct(client, by, { ...entry, after: { from, to, amountUsdc: formatUsdc(amount) } })
      })
    },
  }
}
