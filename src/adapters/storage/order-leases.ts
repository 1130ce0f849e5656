import type { Order } from '../../orders/order.ts'
import { leaseMs } from '../../orders/ports.ts'
import type { OrderId } from '../../primitives/ids.ts'
import type { Database } from './database.ts'
import { orderColumns, type StoredOrder } from './order-reads.ts'
import { orderOf } from './order-row.ts'

/*
 * Whoever takes an order makes it due at that moment and locks it for the lease. So a due time
 * later than the beginning of the lease means that someone hastened the order meanwhile.
 */

/**
 * Does nothing when the order was moved on since it was read: the lease is another's then. What was
 * hastened while the lease was held is due at once, so that no hint is lost.
 */
export async function release(database: Database, order: Order, againInMs: number): Promise<void> {
  await database.query(
    `update orders set
       due_at = case when due_at > locked_until - $3 * interval '1 ms' then now()
         else now() + $4 * interval '1 ms' end,
       locked_until = now()
     where id = $1 and version = $2 and due_at is not null`,
    [order.id, order.version, leaseMs, againInMs],
  )
}

/** Leaves the lease alone: whoever holds it goes on undisturbed. */
export async function hasten(database: Database, id: OrderId): Promise<void> {
  await database.query('update orders set due_at = now() where id = $1 and due_at is not null', [
    id,
  ])
}

/**
 * Orders whose worker broke off come before those that only wait, so that no backlog stands between
 * a buyer and what a crash left behind. Rows that another node is taking at this moment are skipped, not waited for. The choice is
 * materialized because the planner might otherwise make it anew for each row and exceed the limit.
 */
const claimSql = `
  with due as materialized (
    select id from orders
    where due_at <= now() and locked_until <= now()
    order by (locked_until <= due_at), due_at
    limit $1
    for update skip locked
  )
  update orders set due_at = now(), locked_until = now() + $2 * interval '1 ms'
  from due where orders.id = due.id
  returning ${orderColumns}`

export async function claimDue(database: Database, limit: number): Promise<readonly Order[]> {
  const { rows } = await database.query<StoredOrder>(claimSql, [limit, leaseMs])
  return rows.map(orderOf)
}
