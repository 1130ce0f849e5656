import type { Pool } from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { createDatabase, dropDatabase } from '../../../sandbox/postgres/test-postgres.ts'
import type { Migrated } from '../../../test/harness/migrated-postgres.ts'
import { openDatabase } from './database.ts'

/** Databases with all tables of the store and no rows. */
export interface MigratedPostgres {
  /** A new database, as one node sees it. */
  open(): Promise<Pool>
  /** A new database, as two nodes see it. */
  openForTwo(): Promise<readonly [Pool, Pool]>
  /** A new database, as a superuser and as the installed store sees it. */
  openForStore(): Promise<readonly [Pool, Pool]>
}

interface Database {
  readonly url: string
  readonly pools: Pool[]
}

/**
 * Call it at the top of a test file. After the last test it ends open pools and drops the databases. A
 * database whose pools have all ended is emptied for the next test, because creating one takes far longer
 * than most tests.
 */
export function migratedPostgres(): MigratedPostgres {
  let postgres: Migrated
  const databases: Database[] = []

  function connect({ url, pools }: Database): Pool {
    const pool = openDatabase(url, { ...options, onError: raise })
    pools.push(pool)
    return pool
  }

  async function take(): Promise<Database> {
    const left = databases.find(({ pools }) => pools.every(({ ended }) => ended))
    if (!left) {
      const url = await createDatabase(postgres.databaseUrl, postgres.template)
      const made = { url, pools: [] }
      databases.push(made)
      return made
    }
    left.pools.length = 0
    const pool = connect(left)
    await pool.query(postgres.emptying)
    await pool.end()
    left.pools.length = 0
    return left
  }

  beforeAll(async () => {
    const response = await fetch(inject('migratedPostgres'))
    if (!response.ok) throw new Error(await response.text())
    postgres = (await response.json()) as Migrated
  })
  afterAll(async () => {
    const pools = databases.flatMap((database) => database.pools)
    await Promise.all(pools.filter(({ ending }) => !ending).map((pool) => pool.end()))
    for (const { url } of databases) await dropDatabase(postgres.databaseUrl, url)
  })

  return {
    open: async () => connect(await take()),
    openForTwo: async () => {
      const database = await take()
      return [connect(database), connect(database)]
    },
    openForStore: async () => {
      const database = await take()
      const { url, pools } = database
      return [
        connect(database),
        connect({ url: Object.assign(new URL(url), postgres.store).href, pools }),
      ]
    },
  }
}

/** A busy machine is slow, so the limit is long. Other tests cover the timeout of statements. */
const options = { applicationName: 'test', poolSize: 8, statementTimeoutMs: 120_000 }

function raise(error: Error): never {
  throw error
}
