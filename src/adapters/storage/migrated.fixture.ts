import type { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../../../sandbox/postgres/test-postgres.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'

/** A PostgreSQL whose databases begin with all tables of the store and none of its rows. */
export interface MigratedPostgres {
  /** A new database, as one node sees it. */
  open(): Promise<Pool>
  /** A new database, as two nodes see it. */
  openForTwo(): Promise<readonly [Pool, Pool]>
}

interface Database {
  readonly url: string
  readonly pools: Pool[]
}

/**
 * Called at the top of a test file: the server runs while the tests of the file do. Connections that
 * nobody ended are ended before it stops. A database whose pools were all ended is emptied for the
 * next test, because making one takes far longer than most tests do.
 */
export function migratedPostgres(): MigratedPostgres {
  let postgres: TestPostgres
  let template: string
  let emptying: string
  const databases: Database[] = []

  function connect({ url, pools }: Database): Pool {
    const pool = openDatabase(url, { ...options, onError: raise })
    pools.push(pool)
    return pool
  }

  async function take(): Promise<Database> {
    const left = databases.find(({ pools }) => pools.every(({ ended }) => ended))
    if (!left) {
      const made = { url: await postgres.createDatabase(template), pools: [] }
      databases.push(made)
      return made
    }
    left.pools.length = 0
    const pool = connect(left)
    await pool.query(emptying)
    await pool.end()
    left.pools.length = 0
    return left
  }

  beforeAll(async () => {
    postgres = await startTestPostgres()
    template = await postgres.createDatabase()
    const pool = connect({ url: template, pools: [] })
    await migrate(pool)
    emptying = await emptyingOf(pool)
    // A database is copied only while nobody is connected to it.
    await pool.end()
  })
  afterAll(async () => {
    const pools = databases.flatMap((database) => database.pools)
    await Promise.all(pools.filter(({ ending }) => !ending).map((pool) => pool.end()))
    await postgres.stop()
  })

  return {
    open: async () => connect(await take()),
    openForTwo: async () => {
      const database = await take()
      return [connect(database), connect(database)]
    },
  }
}

/** A busy machine takes its time: that a server gives statements up is tested where it is meant. */
const options = { applicationName: 'test', poolSize: 8, statementTimeoutMs: 120_000 }

/** What brings every table and sequence back to what the migrations left, past the tables' guards. */
async function emptyingOf(pool: Pool): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  )
  const refills: string[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query(
      `select quote_literal(json_agg(one)) as all_rows from ${name} one having count(*) > 0`,
    )
    for (const { all_rows } of rows) {
      refills.push(
        `insert into ${name} select * from json_populate_recordset(null::${name}, ${all_rows})`,
      )
    }
  }
  return [
    'begin',
    'set local session_replication_role = replica',
    ...tables.map(({ name }) => `delete from ${name}`),
    ...refills,
    `select setval(format('%I', sequencename)::regclass, 1, false) from pg_sequences`,
    'commit',
  ].join(';')
}

function raise(error: Error): never {
  throw error
}
