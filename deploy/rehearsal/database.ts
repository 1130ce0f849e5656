import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '../../sandbox/postgres/postgres.ts'
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

/** Debian's PostgreSQL with its default settings, which syncs to disk, in a folder of its own. */
export async function startDatabase(dataDir: string) {
  const programs = native ?? ''
  const start = () => startPostgres({ dataDir, installed: programs })
  let server = await start()
  const urlOf = (name: string) => server.databaseUrl.replace(/postgres$/, name)
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
    async kill() {
      process.kill(server.pid, 'SIGQUIT')
      await server.stop()
    },
    async startAgain() {
      server = await start()
    },
    stop: () => server.stop(),
  }
}

export type Database = Awaited<ReturnType<typeof startDatabase>>
