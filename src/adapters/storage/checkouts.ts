import type { CheckoutStore } from '../../checkouts/ports.ts'
import type { CheckoutId } from '../../lib/ids.ts'
import type { Allowance } from '../../orders/ports.ts'
import { inBatches, rowsAtOnce } from './batches.ts'
import { findCheckoutBy, findHolder } from './checkout-reads.ts'
import { checkoutColumns, checkoutOf, type StoredCheckout } from './checkout-row.ts'
import { moveCheckout, openCheckout } from './checkout-writes.ts'
import type { Database } from './database.ts'
import { claimDue, hasten, type LeasedTable, release } from './leases.ts'
import type { RefundCaps } from './payout-limits.ts'

const table: LeasedTable = { name: 'checkouts', columns: checkoutColumns }

/**
 * Keeps checkouts in PostgreSQL. Every method is one or a few statements, none holds a transaction.
 *
 * @param caps what returns and refunds together may come to
 */
export function createCheckoutStore(database: Database, caps: RefundCaps): CheckoutStore {
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
    allowReturn: (id, seq) => allowReturn(database, caps, id, seq),
    erasePersonal: (endedBefore, signal) => erasePersonal(database, endedBefore, signal),
  }
}

/** The function in the database takes units, worth and address from the checkout itself. */
async function allowReturn(
  database: Database,
  caps: RefundCaps,
  id: CheckoutId,
  seq: number,
): Promise<Allowance> {
  const { rows } = await database.query<{ allowed: Allowance }>(
    'select allow_return($1, $2, $3, $4) as allowed',
    [id, seq, caps.hour.toString(), caps.day.toString()],
  )
  const [row] = rows
  if (!row) throw new Error(`Nothing was said of return ${seq} of ${id}`)
  return row.allowed
}

/**
 * The version grows, so that someone who read the checkout before cannot write the old fields back.
 * An address that money went to, or that an order pays back to, stays: it is a part of the trail of
 * the money, as the wallet is that paid an order in USDC.
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
