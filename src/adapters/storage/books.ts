import type { Pool, QueryConfig } from 'pg'
import type { Charge, Kind } from '../../catalog/offer.ts'
import type { OrderId } from '../../lib/ids.ts'
import type { Item } from '../../orders/order.ts'
import type { GasPaid } from '../../payments/payment.ts'
import { type Database, restored } from './database.ts'

/** `to` is exclusive. */
export interface Span {
  readonly from: Date
  readonly to: Date
}

const rowsAtOnce = 100
const readWithinMs = 600_000

/** All rows as they were at one moment, few of them in memory at a time. */
async function* streamed<Row extends object>(
  pool: Pool,
  sql: string,
  values: readonly unknown[],
): AsyncGenerator<readonly Row[]> {
  const client = await pool.connect()
  const ask = (text: string, values: readonly unknown[] = []) => {
    const query: QueryConfig & { query_timeout: number } = {
      ...{ text, values: [...values], query_timeout: readWithinMs },
    }
    return client.query<Row>(query)
  }
  try {
    await ask('begin isolation level repeatable read read only')
    // Whoever reads the rows may be slow.
    await ask(`select set_config('idle_in_transaction_session_timeout', '0', true),
      set_config('statement_timeout', '${readWithinMs}', true)`)
    await ask(`declare book no scroll cursor for ${sql}`, values)
    for (;;) {
      const { rows } = await ask(`fetch ${rowsAtOnce} from book`)
      if (rows.length > 0) yield rows
      if (rows.length < rowsAtOnce) break
    }
    await ask('commit')
  } finally {
    // It also ends what was broken off.
    client.release(true)
  }
}

/** What the books say of an order. Amounts are in US dollars, USDC at one to the dollar, unless named otherwise. */
export interface BookedOrder {
  readonly id: OrderId
  readonly placedAt: Date
  readonly state: string
  readonly refundState: string | null
  readonly kind: Kind
  readonly item: Item
  readonly method: 'x402' | 'btcpay'
  /** USDC, or the coin in whose smallest unit `units` is. */
  readonly asset: string
  readonly units: string
  /** Atomic USDC. */
  readonly price: string
  readonly received: string
  readonly refunded: string
  readonly goodwill: string
  /** What the supplier was paid or is owed: nothing for what it did not deliver, or took back. */
  readonly charge: Charge | null
  readonly isSupplied: boolean
  readonly gas: GasPaid | null
  readonly refundGas: GasPaid | null
  readonly goodwillGas: GasPaid | null
  readonly transaction: string | null
  readonly refundTransaction: string | null
}

const assetSql = `case doc #>> '{payment,method}' when 'x402' then 'USDC' else doc #>> '{payment,asset}' end as asset`

const isSuppliedSql = `(outcome is not distinct from 'DELIVER' or doc #>> '{supply,state}' = 'LOST')`

const ordersSql = `
  select id, placed_at as "placedAt", state, refund_state as "refundState", kind, doc -> 'item' as item,
    doc #>> '{payment,method}' as method,
    ${assetSql},
    coalesce(doc #>> '{payment,units,$bigint}', amount::text) as units, amount::text as price,
    (case when settlement in ('SEEN', 'FINAL') then amount else 0 end)::text as received,
    (case when refund_state = 'REFUNDED' then amount else 0 end)::text as refunded,
    coalesce((select sum(given.amount) from goodwill given
      where given.id = orders.id and given.doc #>> '{payout,state}' = 'CONFIRMED'), 0)::text as goodwill,
    doc -> 'charge' as charge, ${isSuppliedSql} as "isSupplied",
    doc #> '{receipt,gas}' as gas, doc #> '{payout,gas}' as "refundGas",
    (select given.doc #> '{payout,gas}' from goodwill given where given.id = orders.id) as "goodwillGas",
    transaction_hash as transaction, refund_transaction_hash as "refundTransaction"
  from orders where placed_at >= $1 and placed_at < $2 order by placed_at, id`

/** Those placed in this time, in their order. */
export async function* bookedOrders(
  pool: Pool,
  { from, to }: Span,
): AsyncGenerator<readonly BookedOrder[]> {
  for await (const rows of streamed<BookedOrder>(pool, ordersSql, [from, to])) {
    yield rows.map(({ item, gas, refundGas, goodwillGas, ...row }) => ({
      ...row,
      item: restored(item) as Item,
      gas: restored(gas) as GasPaid | null,
      refundGas: restored(refundGas) as GasPaid | null,
      goodwillGas: restored(goodwillGas) as GasPaid | null,
    }))
  }
}

export interface BookedEntry {
  readonly at: Date
  /** The id of an order or of a checkout. */
  readonly subject: string
  readonly seq: number
  readonly account: string
  /** Atomic USDC of an order, units of `asset` of a checkout; positive where it came from. */
  readonly amount: string
  readonly isCoin: boolean
  readonly asset: string
}

const ledgersSql = `(
  select at, order_id as subject, seq, account, ledger.amount, false as "isCoin", ${assetSql}
  from ledger join orders on id = order_id
  union all
  select at, checkout_id, seq, account, units, true, coin
  from checkout_ledger join checkouts on id = checkout_id
) as entry`

const entriesSql = `
  select at, subject, seq, account, amount::text, "isCoin", asset from ${ledgersSql}
  where at >= $1 and at < $2 order by at, subject, seq, account`

export function bookedEntries(
  pool: Pool,
  { from, to }: Span,
): AsyncGenerator<readonly BookedEntry[]> {
  return streamed<BookedEntry>(pool, entriesSql, [from, to])
}

/** An account at the beginning and at the end of a span, in atomic USDC or units of the coin. */
export interface AccountSums {
  readonly account: string
  readonly asset: string
  readonly isCoin: boolean
  readonly opening: string
  readonly change: string
}

const sumsSql = `
  select account, asset, "isCoin", coalesce(sum(amount) filter (where at < $1), 0)::text as opening,
    coalesce(sum(amount) filter (where at >= $1), 0)::text as change
  from ${ledgersSql} where at < $2
  group by account, asset, "isCoin" order by "isCoin", asset, account`

export async function accountSums(
  database: Database,
  { from, to }: Span,
): Promise<readonly AccountSums[]> {
  return (await database.query<AccountSums>(sumsSql, [from, to])).rows
}

/** Atomic USDC that was received in these blocks, both included. */
export async function receivedInBlocks(
  database: Database,
  from: number,
  to: number,
): Promise<bigint> {
  const { rows } = await database.query<{ sum: string }>(
    `select coalesce(sum(amount), 0)::text as sum from orders
     where transaction_hash is not null and (doc #>> '{receipt,block}')::bigint between $1 and $2
       and settlement in ('SEEN', 'FINAL') and doc #>> '{payment,method}' = 'x402'`,
    [from, to],
  )
  return BigInt(rows[0]?.sum ?? 0)
}

/** Atomic USDC of the refunds and the goodwill that these transactions paid. */
export async function paidByTransactions(
  database: Database,
  transactions: readonly string[],
): Promise<bigint> {
  const { rows } = await database.query<{ sum: string }>(
    `select coalesce(sum(amount), 0)::text as sum from (
       select amount from orders where refund_transaction_hash = any ($1::text[])
       union all
       select amount from goodwill where lower(doc #>> '{payout,transaction}') = any ($1::text[])
     ) as paid`,
    [transactions],
  )
  return BigInt(rows[0]?.sum ?? 0)
}

export interface SupplierCost {
  readonly id: string
  /** Null if the supplier never said. */
  readonly charge: Charge | null
}

/** The orders whose goods the supplier delivered and charged, by when that was booked. */
export function suppliedOrders(
  pool: Pool,
  { from, to }: Span,
): AsyncGenerator<readonly SupplierCost[]> {
  return streamed<SupplierCost>(
    pool,
    `select id, doc -> 'charge' as charge from orders
     where ${isSuppliedSql} and changed_at >= $1 and changed_at < $2`,
    [from, to],
  )
}

/** Units of each coin that the processor confirmed and that came in this time, as they are on record. */
export async function coinsReceived(
  database: Database,
  { from, to }: Span,
): Promise<Map<string, bigint>> {
  const { rows } = await database.query<{ coin: string; units: string }>(
    `select coin, sum((paid #>> '{units,$bigint}')::numeric)::text as units
     from checkouts, jsonb_array_elements(doc #> '{invoice,payments}') as paid
     where paid ->> 'status' = 'SETTLED' and (paid #>> '{receivedAt,$date}')::timestamptz >= $1
       and (paid #>> '{receivedAt,$date}')::timestamptz < $2
     group by coin`,
    [from, to],
  )
  return new Map(rows.map(({ coin, units }) => [coin, BigInt(units)]))
}
