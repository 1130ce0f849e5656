import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Applied, type Migration, missingOf, readMigrations } from './migrations.ts'

/** How a migration waits for tables that others use. */
export interface Patience {
  readonly lockWaitMs: number
  readonly attempts: number
  readonly pauseMs: number
}

const ownMigrations = new URL('./migrations/', import.meta.url)
/** Any number that everyone who migrates this database agrees on. */
const turnNumber = 402_402
/** Building an index over many orders takes longer than any statement of the running store. */
const migrateWithinMs = 600_000
const turnPauseMs = 100
/**
 * Whoever wants a table after a migration that waits for it waits as well, so it waits shortly, and lets
 * them through before it tries again. Longer than the second (`deadlock_timeout`) after which autovacuum
 * gives way.
 */
const patient: Patience = { lockWaitMs: 2_000, attempts: 20, pauseMs: 3_000 }

/**
 * Brings the database to what this version of the store needs, one migration after the other, each of
 * them whole or not at all. Safe to repeat, beside nodes that serve, and for several nodes at once: the
 * others wait for the first.
 *
 * @param folder numbered `.sql` files, each applied once, in the order of their names
 * @returns the names of the migrations it applied
 * @throws when an applied migration was edited, when others keep a table for too long, or SchemaTooNew
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
    // The turn and the time limit end with the session, and so does whatever was begun in it.
    client.release(true)
  }
}

/**
 * Checks the tables for callers that must not change them.
 *
 * @throws when `migrate` would change them, or would throw
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

/** Asked for again and again: a statement that waited would keep an index from being built beside it. */
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
    // Where the connection has broken, the server has done so by itself.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** One that fails in between is applied again from its beginning. */
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
  // The types of pg leave out that a single query may have its own time limit.
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
