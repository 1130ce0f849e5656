import type { OrderStore } from '../../orders/ports.ts'
import { type Database, inBatches } from './database.ts'

type Forgetting = Pick<OrderStore, 'erasePersonal' | 'forgetNeverPaid' | 'forgetKeys'>

export function forgettingOrders(database: Database): Forgetting {
  return {
    erasePersonal: (endedBefore, signal) =>
      inBatches(database, eraseSql, [endedBefore, erasedMessage], signal),
    forgetNeverPaid: (endedBefore, signal) => inBatches(database, forgetSql, [endedBefore], signal),
    forgetKeys: async (usedBefore, signal) =>
      (await inBatches(database, forgetKeysSql, [usedBefore], signal)) +
      (await inBatches(database, forgetClaimsSql, [usedBefore], signal)),
  }
}

/** Also replaces the supplier's message, which may contain a phone number. */
const eraseSql = `
  with ended as materialized (
    select id from orders
    where finished_at < $1 and recipient is not null
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
  ), noted as (
    insert into order_events (order_id, seq, at, state, payout_state, detail)
    select id, version, now(), state,
      coalesce(doc #>> '{payout,state}', case when doc ? 'refundAt' then 'WAITING' end), '{"erased": true}'
    from erased
  )
  select id from erased`

const erasedMessage = 'The words of the supplier were erased with the personal fields.'

const forgetSql = `
  delete from orders where id = any (array (
    select id from orders
    where state = 'PAYMENT_FAILED' and finished_at < least($1, now() - interval '1 day')
      and not exists (select from ledger where order_id = orders.id)
      and not exists (select from refund_claims where order_id = orders.id)
    order by finished_at limit $2 for update skip locked))`

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
