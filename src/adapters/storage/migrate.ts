import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Pool } from 'pg'
import type { Database } from './database.ts'
import { atOnce } from './transaction.ts'

interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
}

const ownMigrations = new URL('./migrations/', import.meta.url)
/** Any number that everyone who migrates this database agrees on. */
const lockNumber = 402_402
/** Building an index over many orders takes longer than any statement of the running store. */
const migrateWithinMs = 600_000

/**
 * Brings the database to what this version of the store needs: all of it, or nothing. Safe to
 * repeat, and for several nodes at once: the others wait for the first.
 *
 * @param folder numbered `.sql` files, each applied once, in the order of their names
 * @returns the names of the migrations it applied
 * @throws when an applied migration was edited or is not known here
 */
export async function migrate(pool: Pool, folder: URL = ownMigrations): Promise<readonly string[]> {
  const migrations = await readMigrations(folder)
  return atOnce(pool, (client) => applyMissing(client, migrations))
}

async function applyMissing(
  client: Database,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  await client.query(`set local statement_timeout = ${migrateWithinMs}`)
  await patiently(client, `select pg_advisory_xact_lock(${lockNumber})`)
  await client.query(`create table if not exists schema_migrations (
    name text primary key, sha256 text not null, applied_at timestamptz not null)`)
  const applied = await readApplied(client)
  requireKnown(applied, migrations)
  const missing = migrations.filter(({ name }) => !applied.has(name))
  for (const { name, sql, sha256 } of missing) {
    await patiently(client, sql)
    await client.query('insert into schema_migrations values ($1, $2, now())', [name, sha256])
  }
  return missing.map(({ name }) => name)
}

function patiently(client: Database, text: string) {
  // The types of pg leave out that a single query may have its own time limit.
  const query: { text: string; query_timeout: number } = { text, query_timeout: migrateWithinMs }
  return client.query(query)
}

async function readApplied(client: Database): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'select name, sha256 from schema_migrations',
  )
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

function requireKnown(
  applied: ReadonlyMap<string, string>,
  migrations: readonly Migration[],
): void {
  const ours = new Map(migrations.map(({ name, sha256 }) => [name, sha256]))
  for (const [name, sha256] of applied) {
    if (!ours.has(name)) {
      throw new Error(
        `The database was migrated by a newer version of the store: it has "${name}", which this ` +
          'version does not know. Start the newer version, or point DATABASE_URL elsewhere.',
      )
    }
    if (ours.get(name) !== sha256) {
      throw new Error(
        `The migration "${name}" was edited after the database had applied it. Put the file back ` +
          'as it was, and write what should change into a new migration.',
      )
    }
  }
}

async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      // Some checkouts turn line ends; that edits nothing.
      const sql = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n')
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
