import { execFileSync, spawn } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { squat } from '../port.fixture.ts'
import { identify, waitUntil } from '../process.ts'
import {
  completeNativeDir,
  installedNativeDir,
  type Postgres,
  type PostgresOptions,
  startPostgres,
} from './postgres.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Closed to every other account, as the home of root is. */
async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kiosk402-pg-'))
  cleanups.push(() => rm(path, { recursive: true }))
  return path
}

async function start(options: PostgresOptions): Promise<Postgres> {
  const server = await startPostgres(options)
  cleanups.push(() => server.stop())
  return server
}

async function ask(databaseUrl: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

it('syncs to disk, uses UTF-8, listens on loopback only and wants the password', async () => {
  const dataDir = await folder()
  const { databaseUrl } = await start({ dataDir })

  expect(await ask(databaseUrl, 'show fsync')).toBe('on')
  expect(await ask(databaseUrl, 'show synchronous_commit')).toBe('on')
  expect(await ask(databaseUrl, 'show server_encoding')).toBe('UTF8')
  expect(await ask(databaseUrl, 'show listen_addresses')).toBe('127.0.0.1')
  expect(await ask(databaseUrl, 'show unix_socket_directories')).toBe('')
  const guess = new URL(databaseUrl)
  guess.password = 'guess'
  await expect(ask(guess.href, 'select 1')).rejects.toThrow('password authentication failed')
  expect((await stat(join(dataDir, 'postgres.json'))).mode & 0o777).toBe(0o600)
  expect((await stat(join(dataDir, 'pg'))).mode & 0o777).toBe(0o700)
})

it('recovers when the server itself was killed, and its lock file names another program', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  await ask(first.databaseUrl, 'create table kept as select 42 as answer')
  const lock = join(dataDir, 'pg', 'postmaster.pid')
  const lines = (await readFile(lock, 'utf8')).split('\n')
  process.kill(first.pid, 'SIGKILL')
  await waitUntil(() => identify(first.pid) === undefined, 60_000)
  const account = await stat(join(dataDir, 'pg'))
  const other = spawn('sleep', ['60'], { uid: account.uid, gid: account.gid })
  cleanups.push(async () => other.kill())
  await writeFile(lock, [other.pid, ...lines.slice(1)].join('\n'))

  const second = await start({ dataDir })

  expect(await ask(second.databaseUrl, 'select answer from kept')).toBe(42)
})

it('moves to another port when somebody else has its own, and remembers that', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  await first.stop()
  const port = Number(new URL(first.databaseUrl).port)
  const giveUp = await squat(port)
  cleanups.push(async () => giveUp())

  const second = await start({ dataDir })

  expect(new URL(second.databaseUrl).port).not.toBe(String(port))
  expect(await ask(second.databaseUrl, 'select 1')).toBe(1)
  const settings = JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8'))
  expect(String(settings.port)).toBe(new URL(second.databaseUrl).port)
})

it('begins again when its first start was killed in the middle', async () => {
  const dataDir = await folder()
  await mkdir(join(dataDir, 'pg.new', 'base'), { recursive: true })
  await writeFile(join(dataDir, 'pg.new', 'PG_VERSION'), '18\n')

  const server = await start({ dataDir })

  expect(await ask(server.databaseUrl, 'select 1')).toBe(1)
  expect((await readdir(dataDir)).filter((name) => name.startsWith('pg'))).toEqual(['pg'])
})

it('runs after an install without install scripts and without executable bits', async () => {
  const copy = join(await folder(), 'package')
  await cp(dirname(installedNativeDir()), copy, { recursive: true, verbatimSymlinks: true })
  const installed = join(copy, 'native')
  for (const entry of await readdir(join(installed, 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(installed, 'lib', entry.name))
  }
  await chmod(join(installed, 'bin', 'postgres'), 0o644)
  const version = () =>
    execFileSync(join(installed, 'bin', 'postgres'), ['--version'], { encoding: 'utf8' })
  expect(version).toThrow()

  await completeNativeDir(installed)

  expect(version()).toContain('PostgreSQL) 18')
})
