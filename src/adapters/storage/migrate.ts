import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { StartRefused } from '../../lib/errors.ts'
import { ensureAudit } from './audit.ts'

interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
}

const ownSchema = new URL('./schema/', import.meta.url)
const lockKey = 402_402
/** Statements on a table queue behind a migration that waits for it, so it gives up before buyers notice. */
const lockWaitMs = 2_000
const migrateWithinMs = 600_000

/** Nodes that start together wait for the first. @throws if the tables are of another version, or locked */
export async function migrate(pool: pg.Pool, folder = ownSchema): Promise<readonly string[]> {
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = ${migrateWithinMs}`)
    const wait: pg.QueryConfig & { query_timeout: number } = {
      text: `select pg_advisory_lock(${lockKey})`,
      query_timeout: migrateWithinMs,
    }
    await client.query(wait)
    await client.query(`create table if not exists schema_migrations (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now())`)
    const missing = await missingIn(client, folder)
    for (const migration of missing) await apply(client, migration)
    await ensureAudit(client)
    return missing.map(({ name }) => name)
  } finally {
    // Closing the session ends the lock, the time limit and any open transaction.
    client.release(true)
  }
}

/** @throws if `migrate` would change the database, or would throw */
export async function requireMigrated(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(`select to_regclass('schema_migrations') is not null as exists`)
  if (rows[0].exists && (await missingIn(pool, ownSchema)).length === 0) return
  throw new Error(
    'The database was not set up by this version of the store, and nothing is changed in it. Start the ' +
      'store on it, or, where that is refused, let kiosk402 reconcile --rebuild set it up.',
  )
}

async function missingIn(
  database: Pick<pg.Pool, 'query'>,
  folder: URL,
): Promise<readonly Migration[]> {
  const files = await filesIn(folder)
  const { rows } = await database.query<Migration>('select * from schema_migrations order by name')
  const ours = new Map(files.map(({ name, sha256 }) => [name, sha256]))
  const first = rows[0]
  if (first && ours.get(first.name) !== first.sha256) {
    throw new StartRefused(
      'The tables were made by a version before the first release, and are made anew in this one. ' +
        'Start with an empty database (DATABASE_URL) or folder (DATA_DIR).',
    )
  }
  for (const { name, sha256 } of rows) {
    if (ours.get(name) === sha256) continue
    throw new StartRefused(
      `A newer version of the store has changed the database ("${name}"). Start that version, or restore a ` +
        'backup from before it (docs/operators/releases.md).',
    )
  }
  return files.slice(rows.length)
}

async function filesIn(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      // Git may convert line endings on checkout; that is no edit.
      const sql = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n')
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function apply(client: pg.PoolClient, { name, sql, sha256 }: Migration): Promise<void> {
  const text = `begin; set local lock_timeout = ${lockWaitMs}; ${sql};
    insert into schema_migrations (name, sha256) values ('${name}', '${sha256}'); commit`
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: migrateWithinMs }
  await client.query(query).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError && error.code === '55P03')) throw error
    throw new Error(
      `"${name}" was not applied, because another session kept a table that it changes, such as a backup. ` +
        'Let it end, and start again.',
      { cause: error },
    )
  })
}
