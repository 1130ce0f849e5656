import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Applied, type Migration, missingOf, readMigrations } from './migrations.ts'

/** How a migration waits for locks on tables that others use. */
export interface Patience {
  readonly lockWaitMs: number
  readonly attempts: number
  readonly pauseMs: number
}

const ownMigrations = new URL('./migrations/', import.meta.url)
/** The key of the advisory lock for migrations: any number, the same in every version. */
const turnNumber = 402_402
/** An index over many orders takes longer to build than any other statement of the store. */
const migrateWithinMs = 600_000
const turnPauseMs = 100
/**
 * While a migration waits for a lock, later statements on that table queue behind it. So each wait is short,
 * with a pause for the others before the next attempt. It exceeds the second (`deadlock_timeout`) after which
 * autovacuum gives way.
 */
const patient: Patience = { lockWaitMs: 2_000, attempts: 20, pauseMs: 3_000 }

/**
 * Applies the migrations that the database lacks, in order, each in a transaction of its own unless it is
 * marked to run outside one. Safe to repeat, and to run beside nodes that serve. If several nodes migrate at
 * once, the others wait for the first.
 *
 * @param folder numbered `.sql` files, each applied once, in the order of their names
 * @returns the names of the migrations it applied
 * @throws SchemaTooNew, or an Error if an applied migration was edited or a table stays locked for too long
 */
export async function migrate(
  pool: pg.Pool,
  folder: URL = ownMigrations,
  patience: Patience = patient,
): Promise<readonly string[]> {
  const migrations = await readMigrations(folder)
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = ${migrateWithinMs}`)
    await takeTurn(client)
    await client.query(`create table if not exists schema_migrations (
      name text primary key, sha256 text not null, applied_at timestamptz not null, needs text)`)
    const missing = missingOf(await readApplied(client), migrations)
    for (const migration of missing) await applyPatiently(client, migration, patience)
    return missing.map(({ name }) => name)
  } finally {
    // Closing the session ends the lock, the time limit and any open transaction.
    client.release(true)
  }
}

/**
 * Checks the tables, for callers that must not change them.
 *
 * @throws if `migrate` would change them, or would throw
 */
export async function requireMigrated(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(`select to_regclass('schema_migrations') is not null as exists`)
  const applied = rows[0].exists ? await readApplied(pool) : []
  if (missingOf(applied, await readMigrations(ownMigrations)).length === 0) return
  throw new Error(
    'The database was not set up by this version of the store, and nothing is changed in it. Start the ' +
      'store on it, or, where that is refused, let npm run reconcile -- --rebuild set it up.',
  )
}

/** Polls for the lock: a statement waiting for it would block `create index concurrently` in another session. */
async function takeTurn(client: pg.PoolClient): Promise<void> {
  const giveUpAt = performance.now() + migrateWithinMs
  for (;;) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${turnNumber}) as mine`)
    if (rows[0].mine) return
    if (performance.now() > giveUpAt) {
      throw new Error('Another node has been changing the tables for ten minutes.')
    }
    await delay(turnPauseMs)
  }
}

async function readApplied(client: pg.Pool | pg.PoolClient): Promise<readonly Applied[]> {
  const { rows } = await client.query<Applied>(
    'select name, sha256, needs from schema_migrations order by name',
  )
  return rows
}

async function applyPatiently(
  client: pg.PoolClient,
  migration: Migration,
  { attempts, pauseMs, lockWaitMs }: Patience,
): Promise<void> {
  const attempt = migration.isAlone ? applyAlone : apply
  let kept: unknown
  for (let made = 0; made < attempts; made += 1) {
    kept = await attempt(client, migration, lockWaitMs).then(() => undefined, unlessKept)
    if (kept === undefined) return
    await delay(pauseMs)
  }
  throw keptWaiting(migration, attempts, kept)
}

async function apply(
  client: pg.PoolClient,
  migration: Migration,
  lockWaitMs: number,
): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${lockWaitMs}`)
    await withinMinutes(client, migration.sql)
    await record(client, migration)
    await client.query('commit')
  } catch (error) {
    // If the connection is broken, the server rolls back by itself.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Runs the statements without a transaction. After a failure the migration starts again from its first statement. */
async function applyAlone(client: pg.PoolClient, migration: Migration): Promise<void> {
  const statements = migration.sql.split(/;\s*$/m).map((text) => text.trim())
  for (const one of statements.filter(Boolean)) await withinMinutes(client, one)
  await record(client, migration)
}

async function record(client: pg.PoolClient, { name, sha256, needs }: Migration): Promise<void> {
  await client.query(
    'insert into schema_migrations (name, sha256, applied_at, needs) values ($1, $2, now(), $3)',
    [name, sha256, needs],
  )
}

function withinMinutes(client: pg.PoolClient, text: string) {
  // A query may have its own timeout, which the types of pg leave out.
  const query: { text: string; query_timeout: number } = { text, query_timeout: migrateWithinMs }
  return client.query(query)
}

/** `lock_not_available` */
function unlessKept(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === '55P03') return error
  throw error
}

function keptWaiting({ name }: Migration, attempts: number, cause: unknown): Error {
  return new Error(
    `The migration "${name}" was not applied: other sessions kept a table that it changes, at ${attempts} ` +
      'attempts. Look for a backup or a long transaction (select pid, xact_start, query from ' +
      'pg_stat_activity order by xact_start), let it end, and start again.',
    { cause },
  )
}
