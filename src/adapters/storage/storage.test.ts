import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../../../sandbox/postgres/test-postgres.ts'
import { usdc } from '../../lib/money.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { requireServer } from './server.ts'
import { reachStorage } from './storage.ts'
import { claimIdentity, createNonceStore, type StoreIdentity } from './store.ts'

let postgres: TestPostgres
let url: string
let pool: Pool
let errors: Error[]

function connect(statementTimeoutMs?: number): Pool {
  return openDatabase(url, {
    applicationName: 'test',
    poolSize: 4,
    onError: (error) => errors.push(error),
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
  })
}

beforeAll(async () => {
  postgres = await startTestPostgres()
})
afterAll(() => postgres.stop())

beforeEach(async () => {
  url = await postgres.createDatabase()
  errors = []
  pool = connect()
})
afterEach(() => pool.end())

describe('the connection', () => {
  it('that breaks while idle is reported and replaced', async () => {
    const { rows } = await pool.query('select pg_backend_pid() as pid')
    const admin = connect()
    await admin.query('select pg_terminate_backend($1)', [rows[0].pid])
    await expect.poll(() => errors.length).toBe(1)
    await admin.end()
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('that breaks while a caller holds it, between two queries, does not end the process', async () => {
    const client = await pool.connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    await pool.query('select pg_terminate_backend($1)', [rows[0].pid])
    await ended
    await expect(client.query('select 1')).rejects.toThrow()
    client.release(true)
  })

  it('gives up statements that take too long', async () => {
    const hasty = connect(50)
    await expect(hasty.query('select pg_sleep(5)')).rejects.toThrow('statement timeout')
    await hasty.end()
  })
})

describe('migrations', () => {
  let folder: string
  const asUrl = () => pathToFileURL(`${folder}/`)
  const write = (name: string, sql: string) => writeFile(join(folder, name), sql)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kiosk402-migrations-'))
    await write('001-one.sql', 'create table one (id integer);\ncreate table other (id integer);')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('are applied once, even by nodes that start together', async () => {
    const pools = Array.from({ length: 4 }, () => connect())
    const applied = await Promise.all(pools.map((each) => migrate(each)))
    await Promise.all(pools.map((each) => each.end()))
    expect(applied.filter((names) => names.length > 0)).toEqual([['001-schema.sql']])
    expect(await migrate(pool)).toEqual([])
  })

  it('are each applied whole or not at all, and go on from there', async () => {
    await write('002-two.sql', 'create table two (id integer); select no_such_thing')
    await expect(migrate(pool, asUrl())).rejects.toThrow('no_such_thing')
    await pool.query('select * from one')
    await expect(pool.query('select * from two')).rejects.toThrow('does not exist')
    await write('002-two.sql', 'create table two (id integer)')
    expect(await migrate(pool, asUrl())).toEqual(['002-two.sql'])
  })

  it('give up a table that others keep, say so, and go on at the next start', async () => {
    await migrate(pool, asUrl())
    await write('002-two.sql', 'create table two (id integer); alter table one add column two text')
    const holder = await pool.connect()
    await holder.query('begin; select * from one')
    await expect(migrate(pool, asUrl())).rejects.toThrow('"002-two.sql" was not applied')
    await expect(pool.query('select * from two')).rejects.toThrow('does not exist')
    await holder.query('commit')
    holder.release()
    expect(await migrate(pool, asUrl())).toEqual(['002-two.sql'])
  })

  it('refuse tables of another version, but no file with other line ends', async () => {
    await write('002-two.sql', 'alter table one add column two text')
    await migrate(pool, asUrl())
    const sql = await readFile(join(folder, '001-one.sql'), 'utf8')
    await write('001-one.sql', sql.replaceAll('\n', '\r\n'))
    expect(await migrate(pool, asUrl())).toEqual([])
    await rm(join(folder, '002-two.sql'))
    await expect(migrate(pool, asUrl())).rejects.toThrow('A newer version of the store')
    await write('001-one.sql', 'create table one (id bigint)')
    const refused = expect(migrate(pool, asUrl())).rejects
    await refused.toThrow('The tables were made by a version before the first release')
  })

  // Every node refuses a file that was edited after its release; a change of the tables is a file of its own.
  it('leave the tables of 0.2.0 as that release has made them', async () => {
    await migrate(pool)
    const { rows } = await pool.query('select name, sha256 from schema_migrations')
    expect(rows).toContainEqual({
      name: '001-schema.sql',
      sha256: 'ff9c610fbd04be55734a2b720d2b011630637626562741e79355a602cbeb07dd',
    })
  })
})

describe('the identity', () => {
  const identity: StoreIdentity = {
    mode: 'sandbox',
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: '0xAA',
  }
  beforeEach(() => migrate(pool))

  it('is claimed by the first start and known by the next', async () => {
    await claimIdentity(pool, identity)
    await claimIdentity(pool, { ...identity, asset: identity.asset.toLowerCase() })
  })

  it.each([
    { mode: 'live' },
    { mode: 'rehearsal' },
    { network: 'eip155:8453' },
    { asset: '0x01' },
  ] satisfies Partial<StoreIdentity>[])('refuses a store with %j', async (other) => {
    await claimIdentity(pool, identity)
    const claimed = claimIdentity(pool, { ...identity, ...other })
    await expect(claimed).rejects.toThrow('This database belongs to a sandbox store')
  })

  it('goes to one of two different stores that start at once', async () => {
    const claims = await Promise.allSettled([
      claimIdentity(pool, identity),
      claimIdentity(pool, { ...identity, mode: 'live' }),
    ])
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('follows the pay-to address', async () => {
    await claimIdentity(pool, identity)
    await claimIdentity(pool, { ...identity, payTo: '0xBB' })
    expect((await pool.query('select pay_to from store_identity')).rows).toEqual([
      { pay_to: '0xbb' },
    ])
  })
})

describe('sign-in nonces', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000)
  beforeEach(() => migrate(pool))

  it('are good for one use, on whatever node', async () => {
    const nodes = [createNonceStore(pool), createNonceStore(pool)] as const
    const uses = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        nodes[index % 2 === 0 ? 0 : 1].useOnce('n', inAnHour()),
      ),
    )
    expect(uses.filter(Boolean)).toHaveLength(1)
    expect(await nodes[1].isUsed('n')).toBe(true)
    expect(await nodes[0].isUsed('other')).toBe(false)
    expect(await nodes[0].useOnce('other', inAnHour())).toBe(true)
  })

  it('are forgotten when they have run out long enough', async () => {
    const nonces = createNonceStore(pool)
    await nonces.useOnce('fresh', inAnHour())
    await nonces.useOnce('just over', new Date(Date.now() - 60_000))
    await nonces.useOnce('old', new Date(Date.now() - 7_200_000))
    expect(await nonces.forgetExpired()).toBe(1)
    expect(await nonces.useOnce('just over', inAnHour())).toBe(false)
    expect(await nonces.useOnce('old', inAnHour())).toBe(true)
  })
})

describe('opening the storage', () => {
  const options = () => ({
    databaseUrl: url,
    mode: 'sandbox' as const,
    payTo: '0xAA',
    network: { id: 'eip155:84532', usdc: '0x01' },
    refundCaps: { hour: usdc(1n), day: usdc(1n) },
  })
  const onError = (error: Error) => errors.push(error)
  const open = async (given: Partial<Parameters<typeof reachStorage>[0]> = {}) =>
    (await reachStorage({ ...options(), ...given }, onError)).migrateAndClaim()

  it('makes everything work on an empty database', async () => {
    const storage = await open()
    await storage.probe()
    expect(await storage.orders.claimDue(1)).toEqual([])
    expect(await storage.snapshots.load()).toBeUndefined()
    expect(await storage.forgetNonces()).toBe(0)
    await storage.close()
    await expect(storage.probe()).rejects.toThrow()
  })

  it('does not take a standstill of this process for one of the database', async () => {
    const storage = await open()
    await storage.probe()
    const probed = storage.probe()
    // After an immediate, Node runs the timers first and handles input only afterwards.
    await setImmediate()
    const until = performance.now() + 1_600
    while (performance.now() < until);
    await probed
    await storage.close()
  })

  it('refuses a database whose encoding lacks letters, before it makes anything there', async () => {
    const name = `latin_${Date.now()}`
    await pool.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
    const databaseUrl = Object.assign(new URL(url), { pathname: `/${name}` }).href
    const opened = open({ databaseUrl })
    await expect(opened).rejects.toThrow(/its encoding is LATIN1.*make it with UTF8/)
    const latin = openDatabase(databaseUrl, { applicationName: 'test', poolSize: 1, onError })
    expect((await latin.query(`select from pg_class where relname = 'orders'`)).rowCount).toBe(0)
    await latin.end()
  })

  it.each([
    [{ version: '140019' }, 'older than PostgreSQL 15'],
    [{ statementLimit: '0' }, 'it has no statement_timeout though'],
    [{ idleLimit: '0' }, 'it has no idle_in_transaction_session_timeout though'],
  ])('refuses a server with %j', async (is, reason) => {
    const good = { version: '150000', encoding: 'UTF8', statementLimit: '10s', idleLimit: '10s' }
    const server = (row: object) => ({ query: async () => ({ rows: [row] }) }) as unknown as Pool
    await requireServer(server(good))
    await expect(requireServer(server({ ...good, ...is }))).rejects.toThrow(reason)
  })

  it('fails when the database is another store’s, and keeps no connection', async () => {
    await (await open()).close()
    const live = open({ mode: 'live' })
    await expect(live).rejects.toThrow('cannot serve a live store')
    const count = `select count(*)::int from pg_stat_activity where application_name = 'kiosk402-live'`
    await expect.poll(async () => (await pool.query(count)).rows).toEqual([{ count: 0 }])
  })
})
