import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serverAccount } from '../../sandbox/postgres/account.ts'
import { initialiseCluster } from '../../sandbox/postgres/initialise.ts'
import { adoptOrStart, databaseUrlOf, stopServer } from '../../sandbox/postgres/server.ts'
import { terminate } from '../../sandbox/process.ts'
import { leftOut } from '../../test/harness/left-out.ts'
import { query } from '../../test/harness/query.ts'

const run = promisify(execFile)

/** The folder with the programs of the newest PostgreSQL of Debian that is installed. */
const native = globSync('/usr/lib/postgresql/*')
  .sort((one, other) => Number(one.split('/').at(-1)) - Number(other.split('/').at(-1)))
  .findLast((folder) => existsSync(join(folder, 'bin/initdb')))

/** The reason why no PostgreSQL of Debian can be started here; undefined if one can. */
export const noDebianPostgres = leftOut(
  native ? undefined : 'PostgreSQL is missing (on Debian: apt-get install postgresql)',
)

const password = 'rehearsed'

/** Debian's PostgreSQL with its default settings, which syncs to disk, in a folder of its own. */
export async function startDatabase(dataDir: string) {
  const programs = native ?? ''
  const clusterDir = join(dataDir, 'pg')
  const account = await serverAccount(clusterDir)
  const cluster = { clusterDir, native: programs, password, account }
  await initialiseCluster({ ...cluster, sync: true })
  const logFile = join(dataDir, 'postgres.log')
  const start = (port?: number) =>
    adoptOrStart({ ...cluster, logFile, port, settings: [], detached: true })
  let server = await start()
  const { port } = server
  const urlOf = (name: string) => databaseUrlOf(port, password).replace(/postgres$/, name)
  const tool = (name: string, ...args: string[]) => run(join(programs, 'bin', name), args)

  return {
    async create(name: string): Promise<string> {
      await query(urlOf('postgres'), `create database ${name} encoding 'UTF8' template template0`)
      return urlOf(name)
    },
    backUp: (url: string, file: string) =>
      tool('pg_dump', '--format=custom', `--file=${file}`, `--dbname=${url}`),
    restore: (file: string, url: string) =>
      tool('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${url}`, file),
    /** Stops it like a crash, without closing connections. */
    kill: () => terminate(server.process, [['SIGQUIT', 60_000]]),
    async startAgain() {
      server = await start(port)
    },
    stop: () => stopServer(server.process),
  }
}

export type Database = Awaited<ReturnType<typeof startDatabase>>

/** The size of a database on disk, the WAL that it has written so far, and its number of orders. */
export async function sizeOf(url: string) {
  const [row] = await query(
    url,
    `select pg_database_size(current_database())::float8 as disk,
       (pg_current_wal_lsn() - '0/0')::float8 as wal, (select count(*)::int from orders) as orders`,
  )
  return row as { readonly disk: number; readonly wal: number; readonly orders: number }
}
