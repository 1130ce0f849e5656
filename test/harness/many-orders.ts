import type pg from 'pg'
import type { OrderId } from '../../src/lib/ids.ts'

/** The tables with rows of an order, and the column with its id. */
const tables = {
  orders: 'id',
  payments: 'order_id',
  idempotency_keys: 'order_id',
  order_events: 'order_id',
  ledger: 'order_id',
} as const

/**
 * Ids, nonce, hash and payer of each copy; the ids use only letters of Crockford's alphabet. All are sorted
 * alike, because indexes grow far faster in order than at random.
 */
const copiesSql = `
  create temporary table copies on commit drop as
  select 'ord_' || of_payer || n % 5 as id, 'pay_' || of_payer || n % 5 as payment_id,
    '0x' || one || of_order as nonce, '0x' || one || of_order as hash,
    '0x' || substr(one || one, 1, 40) as payer,
    now() - (1 - n::float8 / $1) * interval '365 days' as placed_at
  from generate_series(1, $1::integer) as n, lateral (select md5((n / 5)::text) as one) as made,
    lateral (select substr(one, 1, 25) as of_payer, lpad((n % 5)::text, 32, '0') as of_order) as parts
  order by id`

const copySql = (table: keyof typeof tables) => `
  with first as materialized (
    select doc #>> '{payment,nonce}' as nonce, coalesce(transaction_hash, '?') as hash,
      payment_id as payment, doc #>> '{payment,payer}' as payer from orders where id = $1
  ), originals as materialized (
    select to_jsonb(original)::text as text from ${table} as original where ${tables[table]} = $1
  )
  insert into ${table}
  select made.* from originals, first, copies,
    lateral (select replace(replace(replace(replace(replace(replace(text,
      $1, copies.id), first.payment, copies.payment_id), first.nonce, copies.nonce),
      first.hash, copies.hash), first.payer, copies.payer),
      lower(first.payer), copies.payer)::jsonb || case '${table}'
        when 'orders' then jsonb_build_object('placed_at',
          copies.placed_at, 'changed_at', copies.placed_at, 'finished_at', copies.placed_at)
          || case when copies.placed_at < now() - interval '30 days' then '{"recipient": null}'::jsonb else '{}' end
        when 'idempotency_keys' then jsonb_build_object('key', copies.id,
          'created_at', copies.placed_at)
        else '{}' end as fields) as copied,
    lateral jsonb_populate_record(null::${table}, fields) as made`

/** The indexes without a constraint. Rebuilding them is faster than adding rows one by one. */
const indexesSql = `
  select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as made
  from pg_index where indrelid = any ($1::regclass[])
    and not exists (select from pg_constraint where conindid = indexrelid)`
const manyRows = 50_000

/**
 * Copies a finished order with all its rows, without the triggers of the tables. Ids, hashes and payers are
 * distributed like those of a year's real orders; each payer has five. Copies older than 30 days have no
 * recipient, as if their personal fields had been erased.
 *
 * @param left tables whose rows are not copied
 */
export async function copyOrder(
  pool: pg.Pool,
  id: OrderId,
  count: number,
  left: readonly (keyof typeof tables)[] = [],
): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(
      'set local statement_timeout = 0; set local session_replication_role = replica',
    )
    await client.query(copiesSql, [count])
    const copied = (Object.keys(tables) as (keyof typeof tables)[]).filter(
      (table) => !left.includes(table),
    )
    const asked = [count < manyRows ? [] : copied]
    const { rows: indexes } = await client.query<{ name: string; made: string }>(indexesSql, asked)
    for (const { name } of indexes) await client.query(`drop index ${name}`)
    for (const table of copied) await client.query(copySql(table), [id])
    for (const { made } of indexes) await client.query(made)
    await client.query(
      'insert into order_ends select state, $2::bigint, 0 from orders where id = $1',
      [id, count],
    )
    await client.query('commit')
    await client.query('analyze')
  } finally {
    client.release()
  }
}
