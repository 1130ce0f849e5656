import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pool } from 'pg'
import type { TestProject } from 'vitest/node'
import { separateRoles } from '../../sandbox/postgres/roles.ts'
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
  /** As which an installed store signs in. Tests are superusers, so that they can break what they test. */
  readonly store: { readonly username: string; readonly password: string }
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
  const storeUrl = await separateRoles(template)
  await onPool(storeUrl, migrate)
  const emptying = await onPool(template, emptyingOf)
  const started = starting.move()
  const { databaseUrl } = postgres
  const { username, password } = new URL(storeUrl)
  const migrated: Migrated = { databaseUrl, template, emptying, store: { username, password } }
  return { migrated, stop: () => started.disposeAsync() }
}

async function onPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openDatabase(url, {
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

/** Statements that reset all tables and sequences to the state after the migrations, without the tables' triggers. */
async function emptyingOf(pool: Pool): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'audit')`,
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
    `select setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) from pg_sequences`,
    'commit',
  ].join(';')
}
