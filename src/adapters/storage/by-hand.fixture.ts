import type { Pool, PoolClient } from 'pg'
import type { Entry, Order } from '../../orders/order.ts'
import { columnsOf } from './orders.ts'

/** Runs `work` in one transaction. */
export async function transaction(
  pool: Pool,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

/** Writes a version of an order with SQL, as a defect of the store might: without its ledger entries. */
export function overwrite(client: PoolClient, order: Order, to: Order, versions = 1) {
  const columns = columnsOf({ ...to, id: order.id })
  return client.query(
    `update orders set version = version + $10, state = $2, refund_state = $3, outcome = $4,
       refund_transaction_hash = $5, delivery = $6, doc = $7, settlement = $8,
       finished_at = case when $9::boolean then now() end,
       due_at = case when $9::boolean then null else now() end
     where id = $1`,
    [
      ...[order.id, columns.state, columns.refundState, columns.outcome],
      ...[columns.refundTransactionHash, columns.delivery, columns.doc, columns.settlement],
      ...[columns.isFinished, versions],
    ],
  )
}

export function book(client: PoolClient, order: Order, seq: number, entries: readonly Entry[]) {
  return client.query(
    `insert into ledger (order_id, seq, account, amount, at)
     select $1, $2, account, amount, now()
     from unnest($3::text[], $4::numeric[]) as entry (account, amount)`,
    [
      ...[order.id, seq, entries.map(({ account }) => account)],
      entries.map(({ amount }) => amount.toString()),
    ],
  )
}
