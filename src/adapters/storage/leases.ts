import { leaseMs } from '../../orders/workflow.ts'
import type { Database } from './database.ts'

/*
 * Whoever takes a record makes it due at that moment and locks it for the lease. So a due time
 * later than the beginning of the lease means that someone hastened the record meanwhile.
 */

/** A table whose rows are worked on by one node at a time. */
export interface LeasedTable {
  readonly name: 'orders' | 'checkouts'
  /** What a record is read from. */
  readonly columns: string
  /** Narrows what is taken, in SQL; all that is due is taken where it is left out. */
  readonly only?: string
}

/**
 * Does nothing when the record was moved on since it was read: the lease is another's then. What was
 * hastened while the lease was held is due at once, so that no hint is lost.
 */
export async function release(
  database: Database,
  { name }: LeasedTable,
  record: { readonly id: string; readonly version: number },
  againInMs: number,
): Promise<void> {
  await database.query(
    `update ${name} set
       due_at = case when due_at > locked_until - $3 * interval '1 ms' then now()
         else now() + $4 * interval '1 ms' end,
       locked_until = now()
     where id = $1 and version = $2 and due_at is not null`,
    [record.id, record.version, leaseMs, againInMs],
  )
}

/** Leaves the lease alone: whoever holds it goes on undisturbed. */
export async function hasten(
  database: Database,
  { name }: LeasedTable,
  by: 'id' | 'invoice_id',
  value: string,
): Promise<void> {
  const sql = `update ${name} set due_at = now() where ${by} = $1 and due_at is not null`
  await database.query(sql, [value])
}

/**
 * Records whose worker broke off come before those that only wait, so that no backlog stands between
 * a buyer and what a crash left behind. Rows that another node is taking at this moment are skipped,
 * not waited for. The choice is materialized because the planner might otherwise make it anew for
 * each row and exceed the limit.
 */
export async function claimDue<Row extends object>(
  database: Database,
  { name, columns, only = 'true' }: LeasedTable,
  limit: number,
): Promise<readonly Row[]> {
  const sql = `
    with due as materialized (
      select id as due_id from ${name}
      where due_at <= now() and locked_until <= now() and ${only}
      order by (locked_until <= due_at), due_at
      limit $1
      for update skip locked
    )
    update ${name} set due_at = now(), locked_until = now() + $2 * interval '1 ms'
    from due where id = due_id
    returning ${columns}`
  return (await database.query<Row>(sql, [limit, leaseMs])).rows
}
