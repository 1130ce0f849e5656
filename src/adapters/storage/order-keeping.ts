import { inBatches, rowsAtOnce } from './batches.ts'
import type { Database } from './database.ts'

/**
 * The version grows, so that someone who read the order before cannot write the old fields back.
 * A supplier's own words go too: they may repeat a phone number.
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

export function erasePersonal(database: Database, endedBefore: Date): Promise<number> {
  return inBatches(() => database.query(eraseSql, [endedBefore, rowsAtOnce, erasedMessage]))
}

/** What may go is decided there (020-spent-budgets.sql), and guarded row by row. */
export function forgetNeverPaid(database: Database, endedBefore: Date): Promise<number> {
  return inBatches(async () => {
    const { rows } = await database.query<{ gone: number }>(
      'select forget_never_paid($1, $2) as gone',
      [endedBefore, rowsAtOnce],
    )
    return { rowCount: rows[0]?.gone ?? 0 }
  })
}

const forgetSql = `
  delete from idempotency_keys where (payer, key) in (
    select payer, key from idempotency_keys
    where created_at < $1
      and exists (select 1 from orders where id = order_id and finished_at is not null)
    limit $2
  )`

const forgetClaimsSql = `
  delete from refund_claims where (order_id, key) in (
    select order_id, key from refund_claims where created_at < $1 limit $2)`

export async function forgetKeys(database: Database, usedBefore: Date): Promise<number> {
  const keys = await inBatches(() => database.query(forgetSql, [usedBefore, rowsAtOnce]))
  const claims = await inBatches(() => database.query(forgetClaimsSql, [usedBefore, rowsAtOnce]))
  return keys + claims
}
