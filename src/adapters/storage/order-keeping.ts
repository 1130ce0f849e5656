import { inBatches, rowsAtOnce } from './batches.ts'
import type { Database } from './database.ts'

/**
 * Increments the version, so that a worker that read the order before cannot write the old fields back. Also
 * replaces the supplier's message, which may contain a phone number.
 */
const eraseSql = `
  with ended as materialized (
    select id from orders
    where finished_at < $1 and recipient is not null
    order by finished_at
    limit $2
    for update skip locked
  ), erased as (
    update orders set
      version = version + 1,
      write_id = gen_random_uuid(),
      recipient = null,
      client = null,
      receiver = null,
      doc = case when doc #>> '{failure,trigger}' = 'fulfillment_failed'
        then jsonb_set(doc, '{failure,message}', to_jsonb($3::text)) else doc end
    from ended where orders.id = ended.id
    returning orders.id, orders.version, orders.state, orders.doc
  ), noted as (
    insert into order_events (order_id, seq, at, state, refund_step, detail)
    select id, version, now(), state, doc #>> '{refund,step}', '{"erased": true}' from erased
  )
  select id from erased`

const erasedMessage = 'The words of the supplier were erased with the personal fields.'

export function erasePersonal(
  database: Database,
  endedBefore: Date,
  signal?: AbortSignal,
): Promise<number> {
  const erase = () => database.query(eraseSql, [endedBefore, rowsAtOnce, erasedMessage])
  return inBatches(erase, signal)
}

/**
 * Deletes orders or checkouts that were never paid. The database function selects them, and triggers guard
 * every row (002-ledger.sql, 005-checkout-rules.sql).
 */
export function forgetNeverPaid(
  database: Database,
  forgetFunction: 'forget_never_paid' | 'forget_unpaid_checkouts',
  endedBefore: Date,
  signal?: AbortSignal,
): Promise<number> {
  const forget = async () => {
    const { rows } = await database.query<{ gone: number }>(
      `select ${forgetFunction}($1, $2) as gone`,
      [endedBefore, rowsAtOnce],
    )
    return { rowCount: rows[0]?.gone ?? 0 }
  }
  return inBatches(forget, signal)
}

/**
 * Reads the oldest keys in the order of an index, looks up the order of each by a subquery, and deletes by
 * `ctid`. A join would read whole tables for a few hundred keys.
 */
const forgetSql = `
  delete from idempotency_keys where ctid = any (array (
    select ctid from idempotency_keys
    where created_at < $1
      and (select finished_at from orders where id = order_id) is not null
    order by created_at limit $2))`

const forgetClaimsSql = `
  delete from refund_claims where ctid = any (array (
    select ctid from refund_claims where created_at < $1 order by created_at limit $2))`

export async function forgetKeys(
  database: Database,
  usedBefore: Date,
  signal?: AbortSignal,
): Promise<number> {
  const forget = (sql: string) =>
    inBatches(() => database.query(sql, [usedBefore, rowsAtOnce]), signal)
  return (await forget(forgetSql)) + (await forget(forgetClaimsSql))
}
