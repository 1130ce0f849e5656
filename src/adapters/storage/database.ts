import pg from 'pg'

export interface DatabaseOptions {
  /** Shown in the server's list of connections. */
  readonly applicationName: string
  /** How many connections this node holds at most. */
  readonly poolSize: number
  /** After this long the server gives a statement up. */
  readonly statementTimeoutMs?: number
  /** Hears of connections that broke while nobody used them. The pool replaces them by itself. */
  readonly onError: (error: Error) => void
}

/** What most of the storage needs of the database: one statement at a time. */
export type Database = Pick<pg.Pool, 'query'>

const connectWithinMs = 5_000
/** How much later than the server this side stops waiting, when not even a refusal comes back. */
const answerSlackMs = 5_000

/** Opens no connection yet: the first query does, and fails when there is no server. */
export function openDatabase(url: string, options: DatabaseOptions): pg.Pool {
  const { applicationName, poolSize, statementTimeoutMs = 10_000, onError } = options
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: poolSize,
    connectionTimeoutMillis: connectWithinMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerSlackMs,
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
  return pool
}

/**
 * A statement that the server prepares once on each connection. It takes a quarter of the time of
 * the statements of a purchase away, which are long and always the same.
 */
export function prepared(name: string, text: string) {
  return (values: unknown[]) => ({ name, text, values })
}

/**
 * Whether the server itself says that it did not carry out the statement. After any other error
 * the statement may have been committed all the same, and only a look at the data can tell.
 */
export function isRefused(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR'
}
