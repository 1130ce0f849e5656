import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Pool } from 'pg'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { noteAct } from '../adapters/storage/audit.ts'
import { openDatabase } from '../adapters/storage/database.ts'
import { countRows, dump, load, type RowCounts, tablesIn } from '../adapters/storage/dump.ts'
import { noteRun } from '../adapters/storage/operator-runs.ts'
import { messageOf } from '../lib/errors.ts'
import { type Operator, Refused } from './operator.ts'

/** What is in a backup: the file of its name with `.json` behind it. */
const contentsShape = z.object({ version: z.string(), rows: z.record(z.string(), z.number()) })

type Contents = z.infer<typeof contentsShape>

export function backupFolder({ config }: Operator): string {
  return config.mode === 'live' ? '/var/backups/kiosk402' : join(config.dataDir, 'backups')
}

/** The newest last. */
export async function backupsIn(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => [])
  const backups = files.filter((name) => /^kiosk402-\w+\.dump$/.test(name)).sort()
  return backups.map((name) => join(folder, name))
}

/** Backs up the whole database as it is at one moment, and removes all backups but the newest of the folder. */
export async function backUp(
  { config, database, now }: Operator,
  { folder, keep }: { readonly folder: string; readonly keep: number },
) {
  const stamp = now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
  const file = join(folder, `kiosk402-${stamp}.dump`)
  const part = `${file}.part`
  const rows = await noting(database, 'backup', async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      await writeFile(part, '', { mode: 0o600 })
      const dumped = await dump(database, config.databaseUrl, part)
      const contents: Contents = { version: packageJson.version, rows: dumped }
      await writeFile(`${file}.json`, JSON.stringify(contents, null, 2), { mode: 0o600 })
      await rename(part, file)
      return dumped
    } finally {
      await rm(part, { force: true })
    }
  })
  const removed = (await backupsIn(folder)).slice(0, -keep)
  for (const old of removed) await Promise.all([rm(old), rm(`${old}.json`, { force: true })])
  return { file, bytes: (await stat(file)).size, rows: sumOf(rows), removed }
}

/**
 * Restores a backup into a database made for that, compares every table with what was backed up, and drops it.
 *
 * @param file made by `backUp`
 * @returns `differences`: tables with other rows than were backed up
 * @throws Refused where the role of the store may not make databases
 */
export function drill({ config, database }: Operator, file: string) {
  const work = async () => {
    const { version, rows } = await contentsOf(file)
    const restored = await inScratchDatabase(database, config.databaseUrl, async (url) => {
      await load(url, file)
      return onDatabase(url, countRows)
    })
    const differences = Object.keys({ ...rows, ...restored })
      .map((table) => {
        return { table, backedUp: rows[table] ?? 0, restored: restored[table] ?? 0 }
      })
      .filter(({ backedUp, restored: after }) => backedUp !== after)
    return { file, version, rows: sumOf(restored), differences }
  }
  return noting(database, 'restore_drill', work, ({ differences }) => differences.length === 0)
}

/** Notes its end, also the bad one, by which alerts go. */
async function noting<T>(
  database: Pool,
  what: 'backup' | 'restore_drill',
  work: () => Promise<T>,
  isGood: (done: T) => boolean = () => true,
): Promise<T> {
  try {
    const done = await work()
    await noteRun(database, what, isGood(done) ? 'good' : 'differs')
    return done
  } catch (error) {
    // The error is what counts, also if the database is away.
    await noteRun(database, what, 'failed').catch(() => undefined)
    throw error
  }
}

async function contentsOf(file: string): Promise<Contents> {
  try {
    return contentsShape.parse(JSON.parse(await readFile(`${file}.json`, 'utf8')))
  } catch (error) {
    throw new Refused(`${file}.json, which tells what is in the backup: ${messageOf(error)}`)
  }
}

async function inScratchDatabase<T>(
  database: Pool,
  databaseUrl: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const url = new URL(databaseUrl)
  url.pathname += '_drill'
  const { rows } = await database.query(
    `select quote_ident($1) as name, rolcreatedb or rolsuper as may from pg_roles where rolname = current_user`,
    [decodeURIComponent(url.pathname.slice(1))],
  )
  const [{ name, may }] = rows
  if (!may) {
    throw new Refused(
      'the role of the store may not make a database for the drill; as an administrator of the database: ' +
        `alter role ${decodeURIComponent(url.username)} createdb`,
    )
  }
  // One that was broken off has left its own.
  await database.query(`drop database if exists ${name}`)
  await database.query(`create database ${name} encoding 'UTF8' template template0`)
  try {
    return await work(url.href)
  } finally {
    await database.query(`drop database ${name} with (force)`)
  }
}

/** What a restore would do. @throws Refused for a database that has tables, Error for a file that is no backup */
export async function lookAtRestore(databaseUrl: string, file: string) {
  const tables = await tablesIn(file)
  const present = Object.keys(await onDatabase(databaseUrl, countRows))
  if (present.length > 0) {
    throw new Refused(
      `the database has ${present.length} tables, such as ${present[0]}; make an empty one and name it in DATABASE_URL`,
    )
  }
  return { file, tables: tables.length }
}

/** Restores a backup into an empty database. Nodes of the store must not run on it. */
export async function restore(databaseUrl: string, file: string, by: string) {
  const looked = await lookAtRestore(databaseUrl, file)
  await load(databaseUrl, file)
  const rows = await onDatabase(databaseUrl, async (database) => {
    const counts = await countRows(database)
    const after = { file: basename(file) }
    await noteAct(database, by, { act: 'restore', subject: 'database', after })
    return counts
  })
  return { ...looked, rows: sumOf(rows) }
}

async function onDatabase<T>(url: string, work: (database: Pool) => Promise<T>): Promise<T> {
  const pool = openDatabase(url, {
    applicationName: 'kiosk402-restore',
    poolSize: 1,
    statementTimeoutMs: 600_000,
    onError: () => undefined,
  })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

const sumOf = (rows: RowCounts) => Object.values(rows).reduce((sum, count) => sum + count, 0)
