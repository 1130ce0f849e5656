import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { separateRoles } from '../sandbox/postgres/roles.ts'
import { auditProblem, noteAct, readActs } from '../src/adapters/storage/audit.ts'
import { openDatabase } from '../src/adapters/storage/database.ts'
import { countRows } from '../src/adapters/storage/dump.ts'
import { migrate } from '../src/adapters/storage/migrate.ts'
import { main } from '../src/commands/main.ts'
import { leftOut, works } from '../test/harness/left-out.ts'
import { query } from '../test/harness/query.ts'
import { type Database, noDebianPostgres, startDatabase } from './rehearsal/database.ts'

const why =
  noDebianPostgres ??
  leftOut(works('createdb', '--version') ? undefined : 'postgresql-client is not installed')

/** The settings of a store besides its database. */
const live = {
  MODE: 'live',
  NETWORK: 'base-sepolia',
  RPC_URL: 'http://127.0.0.1:9',
  PAY_TO: `0x${'1'.repeat(40)}`,
  GAS_KEY: `0x${'ab'.repeat(32)}`,
  REFUND_KEY: `0x${'cd'.repeat(32)}`,
  SUPPLIER_URL: 'http://127.0.0.1:9/v1',
  SUPPLIER_KEY: 'key-of-the-supplier',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  PUBLIC_URL: 'https://store.example',
}

describe.skipIf(why)('Debian’s PostgreSQL, with the two roles of an installed store', () => {
  let dir: string
  let server: Database
  let adminUrl: string
  let databaseUrl: string
  let folder: string

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'kiosk402-backups-'))
    folder = join(dir, 'backups')
    await mkdir(join(dir, 'server'))
    server = await startDatabase(join(dir, 'server'))
    adminUrl = await server.create('kiosk402')
    databaseUrl = await separateRoles(adminUrl)
    await onStore(databaseUrl, async (pool) => {
      await migrate(pool)
      await noteAct(pool, 'anna', { act: 'sales pause', subject: 'brand:APPLE' })
      await pool.query(`insert into refund_switch (stopped, reason) values (true, 'a leak')`)
    })
  })
  afterAll(async () => {
    await server.stop()
    await rm(dir, { recursive: true })
  })

  async function onStore<T>(
    url: string,
    work: (pool: ReturnType<typeof openDatabase>) => Promise<T>,
  ): Promise<T> {
    const pool = openDatabase(url, { applicationName: 'test', poolSize: 2, onError: () => {} })
    try {
      return await work(pool)
    } finally {
      await pool.end()
    }
  }

  /** The command on a store whose settings are in a file, with its exit code and what it prints as JSON. */
  async function kiosk402(url: string, ...argv: readonly string[]) {
    const file = join(dir, 'store.env')
    const lines = Object.entries({ ...live, DATABASE_URL: url }).map((pair) => pair.join('='))
    await writeFile(file, lines.join('\n'), { mode: 0o600 })
    const out = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const exit = await main(['--settings', file, '--as', 'anna', '--json', ...argv])
    const data = JSON.parse(out.mock.calls.join(''))
    vi.restoreAllMocks()
    return { exit, data }
  }

  const backUp = (...args: string[]) => kiosk402(databaseUrl, 'backup', '--to', folder, ...args)
  const check = () => kiosk402(databaseUrl, 'restore', '--check', '--from', folder)
  const lastRun = async () =>
    (
      await query(databaseUrl, 'select what, result from operator_runs order by seq desc limit 1')
    )[0]

  async function newest(): Promise<string> {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.dump')).sort()
    return join(folder, files.at(-1) ?? '')
  }

  const emptyDatabase = async (name: string) => {
    await query(adminUrl, `create database ${name} owner kiosk402_store template template0`)
    return Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href
  }

  test('the role of the store makes a backup that only its account reads, and notes it', async () => {
    expect(await backUp()).toMatchObject({ exit: 0, data: { rows: expect.any(Number) } })
    expect((await stat(await newest())).mode & 0o077).toBe(0)
    expect(await lastRun()).toEqual({ what: 'backup', result: 'good' })
  })

  test('a backup that fails leaves no file and is noted', async () => {
    const before = await readdir(folder)
    await query(adminUrl, 'revoke select on audit.acts from kiosk402_store')
    expect(await backUp()).toMatchObject({
      exit: 2,
      data: { error: expect.stringContaining('permission denied') },
    })
    await query(adminUrl, 'grant select on audit.acts to kiosk402_store')
    expect(await readdir(folder)).toEqual(before)
    expect(await lastRun()).toEqual({ what: 'backup', result: 'failed' })
  })

  test('the drill says what it may not do, then restores every row and leaves nothing', async () => {
    expect((await check()).data.error).toContain('alter role kiosk402_store createdb')
    await query(adminUrl, 'alter role kiosk402_store createdb')
    expect(await check()).toMatchObject({ exit: 0, data: { differences: [] } })
    expect(await lastRun()).toEqual({ what: 'restore_drill', result: 'good' })
    expect(await query(adminUrl, `select from pg_database where datname like '%drill'`)).toEqual([])
  })

  test('the drill names each table that restores otherwise than it was backed up', async () => {
    const file = `${await newest()}.json`
    const contents = JSON.parse(readFileSync(file, 'utf8'))
    contents.rows['audit.acts'] += 1
    await writeFile(file, JSON.stringify(contents))
    expect(await check()).toMatchObject({
      exit: 1,
      data: { differences: [{ table: 'audit.acts' }] },
    })
    expect(await lastRun()).toEqual({ what: 'restore_drill', result: 'differs' })
  })

  test('only an empty database is restored into, and it is on record there', async () => {
    await backUp('--keep', '1')
    const file = await newest()
    const refused = await kiosk402(databaseUrl, 'restore', file)
    expect(refused).toMatchObject({
      exit: 1,
      data: { error: expect.stringMatching(/has \d+ tables/) },
    })
    const url = await emptyDatabase('by_command')
    expect(await kiosk402(url, 'restore', file, '--dry-run')).toMatchObject({ exit: 0 })
    expect(await onStore(url, countRows)).toEqual({})
    expect(await kiosk402(url, 'restore', file)).toMatchObject({ exit: 0 })
    const acts = await onStore(url, (pool) => readActs(pool, { limit: 5 }))
    expect(acts.map(({ by, act }) => [by, act])).toEqual([
      ['anna', 'restore'],
      ['anna', 'sales pause'],
    ])
  })

  test('the newest backups stay', async () => {
    const [before] = (await readdir(folder)).sort()
    await backUp('--keep', '1')
    expect((await readdir(folder)).length).toBe(2)
    expect(await readdir(folder)).not.toContain(before)
  })

  test('the documented commands restore it as another user, and the audit is out of reach', async () => {
    await query(adminUrl, `create role postgres superuser login password 'of the administrator'`)
    const { hostname, port } = new URL(adminUrl)
    const said = /```sh by hand\n(.*?)```/s.exec(readFileSync('docs/operators/backups.md', 'utf8'))
    const commands = (said?.[1] ?? 'exit 9')
      .replaceAll('sudo -u postgres ', '')
      .replaceAll(/(--owner|--role) kiosk402 /g, '$1 kiosk402_store ')
      .replaceAll(/\S+\.dump/g, await newest())
      .replaceAll('/opt/kiosk402/', './')
    execFileSync('sh', ['-ec', commands], {
      env: {
        ...process.env,
        ...{ PGHOST: hostname, PGPORT: port, PGUSER: 'postgres' },
        PGPASSWORD: 'of the administrator',
      },
      stdio: 'pipe',
    })
    const url = Object.assign(new URL(databaseUrl), { pathname: '/kiosk402_restored' }).href
    await onStore(url, async (pool) => {
      expect(await auditProblem(pool)).toBeUndefined()
      await migrate(pool)
      await noteAct(pool, 'anna', { act: 'sales resume', subject: 'brand:APPLE' })
      await expect(pool.query('delete from audit.acts')).rejects.toThrow('permission denied')
      expect((await pool.query('select from refund_switch')).rowCount).toBe(2)
    })
  })

  test('over TLS it is spoken to by the certificate of its provider alone', async () => {
    const [ours, theirs] = [certificate(dir, 'ours'), certificate(dir, 'theirs')]
    const config = await query(
      adminUrl,
      `select setting from pg_settings where name = 'data_directory'`,
    )
    const { uid, gid } = await stat(config[0].setting)
    execFileSync('chown', [`${uid}:${gid}`, `${ours}.key`, `${ours}.crt`])
    execFileSync('chmod', ['755', dir])
    await query(adminUrl, `alter system set ssl_cert_file = '${ours}.crt'`)
    await query(adminUrl, `alter system set ssl_key_file = '${ours}.key'`)
    await query(adminUrl, 'alter system set ssl = on')
    await query(adminUrl, 'select pg_reload_conf()')
    const over = (ca: string) => `${databaseUrl}?sslmode=verify-full&sslrootcert=${ca}.crt`
    const isTls = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
    await expect.poll(() => query(over(ours), isTls).catch(String)).toEqual([{ ssl: true }])
    await expect(query(over(theirs), isTls)).rejects.toThrow(/self-signed certificate/)
    expect(await kiosk402(over(ours), 'backup', '--to', folder)).toMatchObject({ exit: 0 })
  })
})

/** A self-signed certificate for 127.0.0.1. Returns its path without the ending. */
function certificate(dir: string, name: string): string {
  const path = join(dir, name)
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  const files = ['-days', '2', '-keyout', `${path}.key`, '-out', `${path}.crt`]
  execFileSync('openssl', [...made, ...subject, ...files], { stdio: 'ignore' })
  return path
}
