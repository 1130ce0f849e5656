import pg from 'pg'
import { withReasons } from '../../lib/connection-error.ts'

export interface DatabaseOptions {
  /** Shown in the server's list of connections. */
  readonly applicationName: string
  /** How many connections this node holds at most. */
  readonly poolSize: number
  /** After this long the server gives a statement up. */
  readonly statementTimeoutMs?: number
  /** After this long this side gives it up, when not even a refusal comes back. */
  readonly answerWithinMs?: number
  /** How long a connection is waited for. */
  readonly connectWithinMs?: number
  /** Hears of connections that broke while nobody used them. The pool replaces them by itself. */
  readonly onError: (error: Error) => void
  /** Hears of each statement that failed because of the server and not because of what it asks. */
  readonly onTrouble?: (trouble: Trouble) => void
}

/** The server is not there, or it is and takes no writes: a standby, or a full disk. */
export interface Trouble {
  readonly kind: 'away' | 'unwritable'
  readonly error: Error
}

/** What most of the storage needs of the database: one statement at a time. */
export type Database = Pick<pg.Pool, 'query'>

/** Opens no connection yet: the first query does, and fails when there is no server. */
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
    // While the pool closes, a server that stops as well breaks connections that nobody needs.
    if (!pool.ending) onError(error)
  })
  pool.on('connect', (client) => {
    // A connection that breaks in use rejects the query on it, which is where the trouble is
    // handled. Without a listener, the event would end the process besides.
    client.on('error', () => undefined)
  })
  return telling(pool, onTrouble)
}

/** Where a statement found no server. Errors of the network are the same, whoever could not be reached. */
const unreached = new WeakSet<Error>()

type Query = (...asked: readonly unknown[]) => Promise<unknown>

/** The same pool, which tells of the troubles that its connections and their statements meet. */
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

/** Values, constraints and triggers refuse a statement, and say nothing of its connection. */
const ofItsData = /^(22|23|P0)/

/** The pool's own query closes the connection of every statement that fails, even where it was refused so. */
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

/** What the driver says, without a code, of a server that is silent. */
const silent = /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect)/

/** Whether something failed for the database, and not for what was asked of it. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof pg.DatabaseError) return troubleIn(error) !== undefined
  return unreached.has(error) || silent.test(error.message)
}

/**
 * A statement that the server prepares once on each connection. It takes a quarter of the time of
 * the statements of a purchase away, which are long and always the same.
 */
export function prepared(name: string, text: string) {
  return (values: unknown[]) => ({ name, text, values })
}

/**
 * The errors that end a statement and not its session, by SQLSTATE (PostgreSQL, Appendix A), since the
 * severity beside it comes in the server's language.
 */
const refusals = /^(2[0-8]|40|42|44|54|P0)|^(53100|53200|55P03|57014)$/
/** Of these classes, but they end the session, or leave open what became of the statement. */
const unsure: readonly string[] = ['25P03', '28000', '28P01', '40003']

/**
 * Whether the server itself says that it did not carry out the statement. After any other error
 * the statement may have been committed all the same, and only a look at the data can tell.
 */
export function isRefused(error: unknown): error is pg.DatabaseError {
  if (!(error instanceof pg.DatabaseError)) return false
  const { code = '' } = error
  return refusals.test(code) && !unsure.includes(code)
}

/** `read_only_sql_transaction`, `disk_full`. */
const unwritable: readonly string[] = ['25006', '53100']
/** Broken connections, shutdowns and the server's own input and output. */
const serverAway = /^(08|57P|58)/
const networkAway = /^E(CONN|HOST|NET|PIPE|TIMEDOUT|AI_)/

/**
 * What an error says of the server. A statement that took too long, and a pool without a free connection,
 * say nothing: what is asked of the store can cause both.
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
