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

/**
 * Called at the top of a test file: the server runs while the tests of the file do. Connections that
 * nobody ended are ended before it stops.
 */
export function migratedPostgres(): MigratedPostgres {
  let postgres: TestPostgres
  let template: string
  const pools: Pool[] = []

  function connect(url: string): Pool {
    const pool = openDatabase(url, { applicationName: 'test', poolSize: 8, onError: raise })
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    postgres = await startTestPostgres()
    template = await postgres.createDatabase()
    const pool = connect(template)
    await migrate(pool)
    // A database is copied only while nobody is connected to it.
    await pool.end()
  })
  afterAll(async () => {
    await Promise.all(pools.filter(({ ending }) => !ending).map((pool) => pool.end()))
    await postgres.stop()
  })

  return {
    open: async () => connect(await postgres.createDatabase(template)),
    openForTwo: async () => {
      const url = await postgres.createDatabase(template)
      return [connect(url), connect(url)]
    },
  }
}

function raise(error: Error): never {
  throw error
}
