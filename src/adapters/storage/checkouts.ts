import type { CheckoutStore } from '../../checkouts/ports.ts'
import { inBatches, rowsAtOnce } from './batches.ts'
import { findCheckoutBy, findHolder } from './checkout-reads.ts'
import { checkoutColumns, checkoutOf, type StoredCheckout } from './checkout-row.ts'
import { moveCheckout, openCheckout } from './checkout-writes.ts'
import type { Database } from './database.ts'
import { claimDue, hasten, type LeasedTable, release } from './leases.ts'
import { forgetNeverPaid } from './order-keeping.ts'

const table: LeasedTable = { name: 'checkouts', columns: checkoutColumns }

/** Keeps checkouts in PostgreSQL. Every method runs a few statements, each a transaction of its own. */
export function createCheckoutStore(database: Database): CheckoutStore {
  return {
    open: (checkout, bound) => openCheckout(database, checkout, bound),
    move: (from, to) => moveCheckout(database, from, to),
    release: (checkout, againInMs) => release(database, table, checkout, againInMs),
    hasten: (invoice) => hasten(database, table, 'invoice_id', invoice),
    claimDue: async (limit) =>
      (await claimDue<StoredCheckout>(database, table, limit)).map(checkoutOf),
    find: (id) => findCheckoutBy(database, 'id', id),
    findByOrder: (id) => findCheckoutBy(database, 'order', id),
    findByTransaction: (hash) => findCheckoutBy(database, 'transaction', hash),
    findByAddress: (address) => findCheckoutBy(database, 'address', address),
    holderOf: (coin, address) => findHolder(database, coin, address),
    erasePersonal: (endedBefore, signal) => erasePersonal(database, endedBefore, signal),
    forgetNeverPaid: (endedBefore, signal) =>
      forgetNeverPaid(database, 'forget_unpaid_checkouts', endedBefore, signal),
  }
}

/**
 * Increments the version, so that a worker that read the checkout before cannot write the old fields back.
 * Keeps an address to which money was returned or an order is refunded. It belongs to the record of the
 * money, like the wallet that paid an order in USDC.
 */
const eraseSql = `
  with ended as materialized (
    select id as ended_id from checkouts
    where finished_at < $1 and recipient is not null
    order by finished_at
    limit $2
    for update skip locked
  ), erased as (
    update checkouts set
      version = version + 1,
      write_id = gen_random_uuid(),
      recipient = null,
      client = null,
      refund_to = case when state = 'ORDERED' or returning_units > 0 then refund_to end
    from ended where id = ended_id
    returning id, version, state
  ), noted as (
    insert into checkout_events (checkout_id, seq, at, state, detail)
    select id, version, now(), state, '{"erased": true}' from erased
  )
  select id from erased`

function erasePersonal(
  database: Database,
  endedBefore: Date,
  signal?: AbortSignal,
): Promise<number> {
  return inBatches(() => database.query(eraseSql, [endedBefore, rowsAtOnce]), signal)
}
