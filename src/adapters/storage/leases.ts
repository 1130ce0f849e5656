import { leaseMs } from '../../orders/workflow.ts'
import type { Database } from './database.ts'

/*
 * Claiming a record sets its due time to now and locks it for the lease. So a due time after the start of
 * the lease means that the record was hastened meanwhile.
 */

/** A table whose rows are worked on by one node at a time. */
export interface LeasedTable {
  readonly name: 'orders' | 'checkouts' | 'goodwill'
  /** The columns that a record is read from. */
  readonly columns: string
  /** An SQL condition on the records to claim. Absent: all that are due. */
  readonly only?: string
}

/**
 * Ends the lease. Does nothing if the record was moved since it was read, because the lease belongs to that
 * writer then. A record that was hastened during the lease is due at once, so that no hint is lost.
 *
 * A worker that stood still past its lease ends that of the next one, if that one has only claimed the record and
 * not moved it yet. A third worker may then begin beside them. It repeats calls to the outside, which is safe.
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

/** Makes the record due now. Its lease stays, so its worker is not disturbed. */
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
 * Claims due records. Those whose worker broke off come before those that only wait, so that a backlog does
 * not delay what a crash left behind. Rows that another node is claiming right now are skipped, not waited
 * for. The choice is materialized, because the planner might otherwise repeat it for each row and exceed the
 * limit.
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
