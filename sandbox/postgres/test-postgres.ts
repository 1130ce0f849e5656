import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from './postgres.ts'

export type TestPostgres = {
  /** The cluster's default database, for connections that create others. */
  databaseUrl: string
  /**
   * Makes an empty database, or a copy of another one that this function made and to which nobody is connected.
   * Returns its URL. A copy takes about 20 ms.
   */
  createDatabase(template?: string): Promise<string>
  stop(): Promise<void>
}

/** For four stories at once, each with several nodes that have a pool each. */
const maxConnections = 400

/**
 * A PostgreSQL for one test run, in a temporary folder. It does not sync to disk, which makes it fast; in everything
 * else it is the same server. When the process of the test run ends in any way, the server ends and removes its
 * folder. `TEST_POSTGRES` names another version to test with.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-test-'))
  const { databaseUrl, stop } = await startPostgres({
    dataDir,
    disposable: true,
    connections: maxConnections,
    installed: process.env['TEST_POSTGRES'] || undefined,
  })
  return { databaseUrl, createDatabase: (template) => createDatabase(databaseUrl, template), stop }
}

/** Makes an empty database, or a copy of another one to which nobody is connected. */
export async function createDatabase(serverUrl: string, template?: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const source = template ? nameOf(template) : 'template1'
  await run(serverUrl, `create database ${name} template ${pg.escapeIdentifier(source)}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

export function dropDatabase(serverUrl: string, databaseUrl: string): Promise<void> {
  return run(serverUrl, `drop database ${pg.escapeIdentifier(nameOf(databaseUrl))} with (force)`)
}

const nameOf = (databaseUrl: string) => new URL(databaseUrl).pathname.slice(1)

async function run(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
