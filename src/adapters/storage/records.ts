import { randomUUID } from 'node:crypto'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import { type Database, isRefused, type prepared } from './database.ts'

type Statement = ReturnType<ReturnType<typeof prepared>>

/**
 * The result of a write. `not_ours`: it affected no row. `taken`: what it would write already exists.
 * `unknown`: it may have been committed, so the caller must look it up.
 */
interface Attempt {
  readonly outcome: 'done' | 'not_ours' | 'taken' | 'unknown'
  readonly error?: unknown
  readonly row?: unknown
}

/**
 * Runs a write that returns one row if it was carried out. If the connection breaks before the answer, the write may
 * have been committed, which its random id in the row tells, or may be committed later: a write that is not found
 * is an error, not a "no".
 *
 * @param isTaken whether the error says that what is to be written already exists
 * @throws the error of a write that the server refused for any other reason
 */
export async function attempt(
  database: Database,
  statement: Statement,
  isTaken: (error: unknown) => boolean = () => false,
): Promise<Attempt> {
  try {
    const { rowCount, rows } = await database.query(statement)
    return rowCount === 1 ? { outcome: 'done', row: rows[0] } : { outcome: 'not_ours' }
  } catch (error) {
    if (isTaken(error)) return { outcome: 'taken', error }
    if (isRefused(error)) throw error
    return { outcome: 'unknown', error }
  }
}

interface NextVersion<Row, One> {
  /** Affects the record only while it still has the version that the write replaces. */
  write(writeId: string): Statement
  read(): Promise<Row | undefined>
  recordOf(row: Row): One
}

/**
 * Writes the next version of a record, or returns it as another write has left it.
 *
 * @throws if it is unknown whether it was written, or if the record was never opened
 */
export async function writeNext<
  Row extends { readonly version: number; readonly write_id: string },
  One extends { readonly id: string; readonly version: number },
>(
  database: Database,
  from: One,
  to: One,
  { write, read, recordOf }: NextVersion<Row, One>,
): Promise<Moved<One>> {
  if (to.id !== from.id) throw new Error(`${from.id} cannot become ${to.id}`)
  const won = { won: true, record: { ...to, version: from.version + 1 } } as const
  const writeId = randomUUID()
  const written = await attempt(database, write(writeId))
  if (written.outcome === 'done') return won
  const stored = await read()
  if (!stored) throw written.error ?? new Error(`${from.id} was never opened`)
  if (stored.write_id === writeId) return won
  if (written.error && stored.version === from.version) throw written.error
  return { won: false, record: recordOf(stored) }
}

/*
 * Claiming a record sets its due time to now and locks it for the lease. So a due time after the start of
 * the lease means that the record was hastened meanwhile.
 */

/** A table whose rows are worked on by one node at a time. */
export interface LeasedTable {
  readonly name: 'orders' | 'checkouts' | 'goodwill'
  readonly columns: string
  /** An SQL condition on the records to claim. Absent: all that are due. */
  readonly only?: string
}

/**
 * Ends the lease, unless the record was moved since it was read. A record that was hastened during the lease is due
 * at once. A worker that stood still past its lease may end that of the next one: calls are then repeated, which is
 * safe.
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
 * Claims due records, those whose worker broke off before those that only wait. The choice is materialized, because
 * the planner might otherwise repeat it for each row and exceed the limit.
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

/** Small enough that no statement locks many rows for long. */
const rowsAtOnce = 500

/** Repeats a statement, whose last parameter bounds its rows, until it finds fewer or the signal aborts. */
export async function inBatches(
  database: Database,
  sql: string,
  values: readonly unknown[],
  signal?: AbortSignal,
): Promise<number> {
  let total = 0
  for (;;) {
    const { rowCount } = await database.query(sql, [...values, rowsAtOnce])
    const done = rowCount ?? 0
    total += done
    if (done < rowsAtOnce || signal?.aborted) return total
  }
}

/**
 * Encodes a value for PostgreSQL's `jsonb`; `restored` decodes it. JSON has no dates and no bigints, and
 * `jsonb` accepts no text with a NUL or an unpaired surrogate, which a supplier's text may contain.
 *
 * @throws Error for a number that is not finite
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() }
  if (typeof value === 'string') return isPlain(value) ? value : { $utf16: hexOf(value) }
  if (value instanceof Date) return { $date: value.toISOString() }
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value === 'object' && value !== null) return mapValues(value, storable)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} in an order`)
  return value
}

/** Decodes a value that `storable` encoded. */
export function restored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(restored)
  if (typeof value !== 'object' || value === null) return value
  const [[name, inner] = [], ...others] = Object.entries(value)
  const restore = name === undefined || others.length > 0 ? undefined : tagged[name]
  return restore ? restore(String(inner)) : mapValues(value, restored)
}

const tagged: Readonly<Record<string, (text: string) => unknown>> = {
  $bigint: BigInt,
  $date: (text) => new Date(text),
  $utf16: (text) => Buffer.from(text, 'hex').toString('utf16le'),
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex')
}

function mapValues(value: object, change: (inner: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))
}
