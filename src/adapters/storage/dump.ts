import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import type { Database } from './database.ts'

/** The rows of each table, by its name with its schema. */
export type RowCounts = Readonly<Record<string, number>>

const run = promisify(execFile)

/**
 * The URL goes without its password, because every account can read the arguments of a process.
 *
 * @throws with the first line of what the program said; the others may quote rows
 */
async function postgresTool(
  program: 'pg_dump' | 'pg_restore',
  args: readonly string[],
  databaseUrl?: string,
): Promise<string> {
  const url = databaseUrl === undefined ? undefined : new URL(databaseUrl)
  const password = decodeURIComponent(url?.password ?? '')
  if (url) url.password = ''
  const env = { ...process.env, ...(password && { PGPASSWORD: password }) }
  try {
    const { stdout } = await run(program, url ? [...args, `--dbname=${url.href}`] : args, { env })
    return stdout
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    const why =
      code === 'ENOENT' ? 'it is not installed (postgresql-client)' : stderr.split('\n')[0]
    throw new Error(`${program}: ${why}`, { cause: error })
  }
}

/**
 * Writes all of the database into the file, as it is at one moment.
 *
 * @returns what was in it at that moment
 * @throws if the file does not have every table
 */
export async function dump(pool: Pool, databaseUrl: string, file: string): Promise<RowCounts> {
  const client = await pool.connect()
  try {
    await client.query('begin transaction isolation level repeatable read read only')
    const { rows } = await client.query('select pg_export_snapshot() as id')
    const counts = await countRows(client as Database)
    const snapshot = `--snapshot=${rows[0].id}`
    await postgresTool('pg_dump', ['--format=custom', snapshot, `--file=${file}`], databaseUrl)
    const listed = await tablesIn(file)
    const missing = Object.keys(counts).filter((name) => !listed.includes(name))
    if (missing.length > 0) throw new Error(`the backup lacks ${missing.join(', ')}`)
    return counts
  } finally {
    // Closes the connection, which ends the transaction.
    client.release(true)
  }
}

/** @throws for a file that is no backup */
export async function tablesIn(file: string): Promise<readonly string[]> {
  const listed = await postgresTool('pg_restore', ['--list', file])
  return [...listed.matchAll(/ TABLE DATA (\S+) (\S+) /g)].map(([, ...name]) => name.join('.'))
}

/**
 * Restores a dump into a database without tables, whole or not at all. The role of the URL owns all of it afterwards, also
 * the audit.
 */
export async function load(databaseUrl: string, file: string): Promise<void> {
  const owner = ['--no-owner', '--no-privileges']
  await postgresTool('pg_restore', [...owner, '--single-transaction', file], databaseUrl)
}

export async function countRows(database: Database): Promise<RowCounts> {
  const { rows } = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname <> 'information_schema' and schemaname not like 'pg\\_%' order by 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of rows) {
    const counted = await database.query(`select count(*)::text as rows from ${name}`)
    counts[name] = Number(counted.rows[0].rows)
  }
  return counts
}
