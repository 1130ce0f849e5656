import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pool } from 'pg'
import type { TestProject } from 'vitest/node'
import { startTestPostgres } from '../../sandbox/postgres/test-postgres.ts'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import { migrate } from '../../src/adapters/storage/migrate.ts'

/** A PostgreSQL with a database that has all tables of the store, as the migrations leave them. */
export interface Migrated {
  readonly databaseUrl: string
  /** The URL of the database to copy, which has no connections. */
  readonly template: string
  /** The statements that reset a copy to the state after the migrations. */
  readonly emptying: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** A URL that answers with `Migrated` as JSON. */
    migratedPostgres: string
  }
}

/** One server for all unit tests, which starts when the first of them needs it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: ReturnType<typeof start> | undefined
  const server = createServer((_, response) => {
    starting ??= start()
    starting.then(
      ({ migrated }) => response.end(JSON.stringify(migrated)),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  project.provide('migratedPostgres', `http://127.0.0.1:${port}`)
  return async () => {
    server.close()
    server.closeAllConnections()
    await (await starting?.catch(() => undefined))?.stop()
  }
}

async function start() {
  await using starting = new AsyncDisposableStack()
  const postgres = starting.adopt(await startTestPostgres(), (server) => server.stop())
  const template = await postgres.createDatabase()
  const pool = openDatabase(template, {
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  await migrate(pool)
  const emptying = await emptyingOf(pool)
  await pool.end()
  const started = starting.move()
  const { databaseUrl } = postgres
  const migrated: Migrated = { databaseUrl, template, emptying }
  return { migrated, stop: () => started.disposeAsync() }
}

/** Statements that reset all tables and sequences to the state after the migrations, without the tables' triggers. */
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
