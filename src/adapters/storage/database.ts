import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { withReasons } from '../../lib/errors.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'

export interface DatabaseOptions {
  readonly applicationName: string
  readonly poolSize: number
  readonly statementTimeoutMs?: number
  /** The client gives up after this time, if the server does not even answer with an error. */
  readonly answerWithinMs?: number
  readonly connectWithinMs?: number
  readonly onError: (error: Error) => void
  readonly onTrouble?: (trouble: Trouble) => void
}

/** The server is unreachable (`away`), or accepts no writes (`unwritable`): a standby or a full disk. */
export interface Trouble {
  readonly kind: 'away' | 'unwritable'
  readonly error: Error
}

export type Database = Pick<pg.Pool, 'query'>

export function openDatabase(url: string, options: DatabaseOptions): pg.Pool {
  const { applicationName, poolSize, statementTimeoutMs = 10_000, onError } = options
  const {
    answerWithinMs = statementTimeoutMs + 5_000,
    connectWithinMs = 5_000,
    onTrouble,
  } = options
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: poolSize,
    connectionTimeoutMillis: connectWithinMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerWithinMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    keepAlive: true,
  })
  pool.on('error', (error) => {
    // If the server stops while the pool closes, it breaks connections that are no longer needed.
    if (!pool.ending) onError(error)
  })
  pool.on('connect', (client) => {
    // Its query rejects too. Without a listener the event would end the process.
    client.on('error', () => undefined)
  })
  return telling(pool, onTrouble)
}

/** Errors of statements that did not reach the server. By its code alone, a network error could be of any host. */
const unreached = new WeakSet<Error>()

type Query = (...asked: readonly unknown[]) => Promise<unknown>

function telling(pool: pg.Pool, onTrouble: DatabaseOptions['onTrouble']): pg.Pool {
  const meet = (error: unknown): never => {
    const trouble = troubleIn(error)
    if (trouble) {
      unreached.add(withReasons(trouble.error))
      onTrouble?.(trouble)
    }
    throw error
  }
  pool.on('connect', (client) => {
    const query: Query = client.query.bind(client)
    Object.assign(client, { query: (...args: unknown[]) => query(...args).catch(meet) })
  })
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>
  return Object.assign(pool, {
    connect: () => connect().catch(meet),
    query: (...args: unknown[]) => queryOnce(pool, args),
  })
}

/** The SQLSTATEs of refusals that the tables raise (schema/001-schema.sql). */
export const raised = {
  walletLimit: 'KS001',
  budgetSpent: 'KS002',
  unpaidCheckouts: 'KS003',
  twin: 'KS004',
} as const

/** SQLSTATE classes of values, constraints and triggers. The connection stays usable after such an error. */
const ofItsData = /^(22|23|P0|KS)/

/** `pool.query` closes the connection after every error. This keeps it after errors of `ofItsData`. */
async function queryOnce(pool: pg.Pool, args: readonly unknown[]): Promise<unknown> {
  const client = await pool.connect()
  try {
    const result = await (client.query as Query)(...args)
    client.release()
    return result
  } catch (error) {
    client.release(!(error instanceof pg.DatabaseError && ofItsData.test(error.code ?? '')))
    throw error
  }
}

/** Errors of the driver about a silent server, which have no code. */
const silent = /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect)/

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof pg.DatabaseError) return troubleIn(error) !== undefined
  return unreached.has(error) || silent.test(error.message)
}

export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: Database) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const done = await work(client as Database)
    await client.query('commit')
    client.release()
    return done
  } catch (error) {
    // Closes the connection, which rolls back the transaction.
    client.release(true)
    throw error
  }
}

/**
 * Does the work in one transaction that is rolled back in the end. Transactions of its own are savepoints in it, and so
 * is each statement, because a refused one would end the transaction.
 */
export async function rehearsed<T>(
  pool: pg.Pool,
  work: (database: pg.Pool) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  const ask: Query = client.query.bind(client)
  let before: Promise<unknown> = Promise.resolve()
  const query: Query = (...args) => {
    const asked = before.then(() => inSavepoint(ask, args))
    before = asked.catch(() => undefined)
    return asked
  }
  const release = (isBroken?: boolean) => {
    if (isBroken) query('rollback').catch(() => undefined)
  }
  const connect = async () => ({ query, release })
  try {
    await ask('begin')
    return await work({ query, connect } as unknown as pg.Pool)
  } finally {
    // Closes the connection, which rolls back the transaction.
    client.release(true)
  }
}

const savepoints: Readonly<Record<string, string>> = {
  begin: 'savepoint own',
  commit: 'release own',
  rollback: 'rollback to own; release own',
}

async function inSavepoint(ask: Query, args: readonly unknown[]): Promise<unknown> {
  const own = savepoints[String(args[0])]
  if (own !== undefined) return ask(own)
  await ask('savepoint each')
  try {
    const result = await ask(...args)
    await ask('release each')
    return result
  } catch (error) {
    await ask('rollback to each; release each')
    throw error
  }
}

/** Prepared once per connection: saves a quarter of the time of the long statements of a purchase. */
export function prepared(name: string, text: string) {
  return (values: unknown[]) => ({ name, text, values })
}

/** SQLSTATEs of errors that end the statement but not the session; the severity is translated, so no criterion. */
const refusals = /^(2[0-8]|40|42|44|54|P0|KS)|^(53100|53200|55P03|57014)$/
/** Exceptions: these end the session, or leave unknown whether the statement was carried out. */
const unsure: readonly string[] = ['25P03', '28000', '28P01', '40003']

export function refusedWith(
  error: unknown,
  code: (typeof raised)[keyof typeof raised],
): pg.DatabaseError | undefined {
  return error instanceof pg.DatabaseError && error.code === code ? error : undefined
}

/** Whether the server did not carry out the statement. After any other error it may have been committed. */
export function isRefused(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false
  const { code = '' } = error
  return refusals.test(code) && !unsure.includes(code)
}

/** `read_only_sql_transaction`, `disk_full`. */
const unwritable: readonly string[] = ['25006', '53100']
const serverAway = /^(08|57P|58)/
const networkAway = /^E(CONN|HOST|NET|NOTFOUND|NOENT|PIPE|TIMEDOUT|AI_)/

/** A statement timeout and an exhausted pool say nothing about the server: requests can cause both. */
export function troubleIn(error: unknown): Trouble | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string'))
    return undefined
  const { code } = error
  if (!(error instanceof pg.DatabaseError)) {
    return networkAway.test(code) ? { kind: 'away', error } : undefined
  }
  if (unwritable.includes(code)) return { kind: 'unwritable', error }
  return serverAway.test(code) ? { kind: 'away', error } : undefined
}

type Statement = ReturnType<ReturnType<typeof prepared>>

/** `not_ours`: it affected no row. `taken`: what it would write exists. `unknown`: it may have been committed. */
interface Attempt {
  readonly outcome: 'done' | 'not_ours' | 'taken' | 'unknown'
  readonly error?: unknown
  readonly row?: unknown
}

/** If the connection breaks, the random id in the row tells a write that was committed; one not found is no "no". */
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
  /** The record must still have the version that the write replaces. */
  write(writeId: string): Statement
  readRow(): Promise<Row | undefined>
  recordOf(row: Row): One
}

/** @throws if it is unknown whether it was written */
export async function writeNext<
  Row extends { readonly version: number; readonly write_id: string },
  One extends { readonly id: string; readonly version: number },
>(
  database: Database,
  from: One,
  to: One,
  { write, readRow, recordOf }: NextVersion<Row, One>,
): Promise<Moved<One>> {
  if (to.id !== from.id) throw new Error(`${from.id} cannot become ${to.id}`)
  const won = { won: true, record: { ...to, version: from.version + 1 } } as const
  const writeId = randomUUID()
  const written = await attempt(database, write(writeId))
  if (written.outcome === 'done') return won
  const stored = await readRow()
  if (!stored) throw written.error ?? new Error(`${from.id} was never opened`)
  if (stored.write_id === writeId) return won
  if (written.error && stored.version === from.version) throw written.error
  return { won: false, record: recordOf(stored) }
}

/*
 * Claiming a record sets its due time to now and locks it for the lease. So a due time after the start of
 * the lease means that the record was hastened meanwhile.
 */

export interface LeasedTable {
  readonly name: 'orders' | 'checkouts' | 'goodwill'
  readonly columns: string
  /** An SQL condition on the records to claim. Absent: all that are due. */
  readonly only?: string
}

/**
 * A record that was hastened during the lease is due at once. A worker that stood still past its lease may end that of
 * the next one: calls are then repeated, which is safe.
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

export async function hasten(
  database: Database,
  { name }: LeasedTable,
  by: 'id' | 'invoice_id',
  value: string,
): Promise<void> {
  const sql = `update ${name} set due_at = now() where ${by} = $1 and due_at is not null`
  await database.query(sql, [value])
}

/** Those whose worker broke off first. Materialized, or the planner might repeat the choice and exceed the limit. */
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

const rowsAtOnce = 500

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

/** `jsonb` takes no dates, bigints, NULs or unpaired surrogates. */
export function storable(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() }
  if (typeof value === 'string')
    return isPlain(value) ? value : { $utf16: Buffer.from(value, 'utf16le').toString('hex') }
  if (value instanceof Date) return { $date: value.toISOString() }
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value === 'object' && value !== null) return mapValues(value, storable)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} in an order`)
  return value
}

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

function mapValues(value: object, change: (inner: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))
}
