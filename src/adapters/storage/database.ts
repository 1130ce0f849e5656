import pg from 'pg'
import { withReasons } from '../../lib/errors.ts'

export interface DatabaseOptions {
  readonly applicationName: string
  readonly poolSize: number
  /** The server cancels a statement after this time. */
  readonly statementTimeoutMs?: number
  /** The client gives up after this time, if the server does not even answer with an error. */
  readonly answerWithinMs?: number
  readonly connectWithinMs?: number
  /** Called when an idle connection breaks. The pool replaces it. */
  readonly onError: (error: Error) => void
  /** Called when a statement fails because of the server, not because of the statement. */
  readonly onTrouble?: (trouble: Trouble) => void
}

/** The server is unreachable (`away`), or accepts no writes (`unwritable`): a standby or a full disk. */
export interface Trouble {
  readonly kind: 'away' | 'unwritable'
  readonly error: Error
}

/** The database as most of the storage uses it: one statement at a time. */
export type Database = Pick<pg.Pool, 'query'>

/** Does not connect yet: the first query does, and fails if there is no server. */
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
    // If a connection breaks in use, its query rejects, and the error is handled there. Without a
    // listener, the event would also end the process.
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
    Object.assign(client, { query: (...asked: unknown[]) => query(...asked).catch(meet) })
  })
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>
  return Object.assign(pool, {
    connect: () => connect().catch(meet),
    query: (...asked: unknown[]) => queryOnce(pool, asked),
  })
}

/** The SQLSTATEs of refusals that the tables raise (schema/001-schema.sql). */
export const raised = {
  walletLimit: 'KS001',
  budgetSpent: 'KS002',
  unpaidCheckouts: 'KS003',
} as const

/** SQLSTATE classes of values, constraints and triggers. The connection stays usable after such an error. */
const ofItsData = /^(22|23|P0|KS)/

/** `pool.query` closes the connection after every error. This keeps it after errors of `ofItsData`. */
async function queryOnce(pool: pg.Pool, asked: readonly unknown[]): Promise<unknown> {
  const client = await pool.connect()
  try {
    const result = await (client.query as Query)(...asked)
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

export async function atOnce<T>(pool: pg.Pool, work: (client: Database) => Promise<T>): Promise<T> {
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
 * A statement that the server prepares once per connection. This saves a quarter of the time of the
 * statements of a purchase, which are long and always the same.
 */
export function prepared(name: string, text: string) {
  return (values: unknown[]) => ({ name, text, values })
}

/**
 * SQLSTATEs (PostgreSQL, Appendix A) of errors that end the statement but not the session. The severity
 * is no criterion, because the server translates it.
 */
const refusals = /^(2[0-8]|40|42|44|54|P0|KS)|^(53100|53200|55P03|57014)$/
/** Exceptions: these end the session, or leave unknown whether the statement was carried out. */
const unsure: readonly string[] = ['25P03', '28000', '28P01', '40003']

export function refusedWith(
  error: unknown,
  code: (typeof raised)[keyof typeof raised],
): pg.DatabaseError | undefined {
  return error instanceof pg.DatabaseError && error.code === code ? error : undefined
}

/**
 * Whether the server says that it did not carry out the statement. After any other error the statement
 * may have been committed; only the data can tell.
 */
export function isRefused(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false
  const { code = '' } = error
  return refusals.test(code) && !unsure.includes(code)
}

/** `read_only_sql_transaction`, `disk_full`. */
const unwritable: readonly string[] = ['25006', '53100']
const serverAway = /^(08|57P|58)/
const networkAway = /^E(CONN|HOST|NET|NOTFOUND|NOENT|PIPE|TIMEDOUT|AI_)/

/**
 * What an error says about the server. A statement timeout and an exhausted pool say nothing, because
 * requests to the store can cause both.
 */
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
