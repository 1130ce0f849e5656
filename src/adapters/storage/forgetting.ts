import type { OrderId } from '../../lib/ids.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { type Database, inBatches } from './database.ts'

type Forgetting = Pick<OrderStore, 'erasePersonal' | 'forgetNeverPaid' | 'forgetKeys'>

export function forgettingOrders(database: Database): Forgetting {
  return {
    erasePersonal: (endedBefore, signal) =>
      inBatches(database, eraseSql('finished_at < $1'), [endedBefore, erasedMessage], signal),
    forgetNeverPaid: (endedBefore, signal) => inBatches(database, forgetSql, [endedBefore], signal),
    forgetKeys: async (usedBefore, signal) =>
      (await inBatches(database, forgetKeysSql, [usedBefore], signal)) +
      (await inBatches(database, forgetClaimsSql, [usedBefore], signal)),
  }
}

/** Of those that have ended. Returns how many. */
export async function eraseOrders(database: Database, ids: readonly OrderId[]): Promise<number> {
  const which = 'finished_at is not null and id = any ($1)'
  const { rowCount } = await database.query(eraseSql(which), [ids, erasedMessage, null])
  return rowCount ?? 0
}

/** Also replaces the supplier's message, which may contain a phone number. */
const eraseSql = (which: string) => `
  with ended as materialized (
    select id from orders
    where ${which} and recipient is not null
    order by finished_at
    limit $3
    for update skip locked
  ), erased as (
    update orders set
      version = version + 1,
      write_id = gen_random_uuid(),
      recipient = null,
      client = null,
      receiver = null,
      twin = null,
      doc = case when doc #>> '{failure,trigger}' = 'fulfillment_failed'
        then jsonb_set(doc, '{failure,message}', to_jsonb($2::text)) else doc end
    from ended where orders.id = ended.id
    returning orders.id, orders.version, orders.state, orders.doc
  ), unnamed as (
    delete from order_persons using erased where order_id = erased.id
  ), noted as (
    insert into order_events (order_id, seq, at, state, payout_state, detail)
    select id, version, now(), state,
      coalesce(doc #>> '{payout,state}', case when doc ? 'refundAt' then 'WAITING' end), '{"erased": true}'
    from erased
  )
  select id from erased`

const erasedMessage = 'The words of the supplier were erased with the personal fields.'

const forgetSql = `
  with gone as (
    delete from orders where id = any (array (
      select id from orders
      where state = 'PAYMENT_FAILED' and finished_at < least($1, now() - interval '1 day')
        and not exists (select from ledger where order_id = orders.id)
        and not exists (select from refund_claims where order_id = orders.id)
      order by finished_at limit $2 for update skip locked))
    returning id
  ), unnamed as (
    delete from order_persons using gone where order_id = gone.id
  )
  select id from gone`

/** A join would read whole tables for a few hundred keys. */
const forgetKeysSql = `
  delete from idempotency_keys where ctid = any (array (
    select ctid from idempotency_keys
    where created_at < $1
      and (select finished_at from orders where id = order_id) is not null
    order by created_at limit $2))`

const forgetClaimsSql = `
  delete from refund_claims where ctid = any (array (
    select ctid from refund_claims where created_at < $1 order by created_at limit $2))`
