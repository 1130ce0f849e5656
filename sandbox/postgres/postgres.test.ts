import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { squat } from '../port.fixture.ts'
import { identify } from '../process.ts'
import type { Postgres, PostgresOptions } from './postgres.ts'
import { startPostgres } from './postgres.ts'

const isRoot = process.getuid?.() === 0
const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function folder(mode = 0o711): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kiosk402-pg-'))
  await chmod(path, mode)
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

/** A process that starts the server as a store does, says so, and then does nothing. */
async function startInOtherProcess(dataDir: string) {
  const script = `
    import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'postgres.ts'))}
    const server = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} })
    console.log(server.databaseUrl)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const [line] = await once(child.stdout, 'data')
  return { child, group: -(child.pid ?? 0), databaseUrl: String(line).trim() }
}

it('keeps its data and its port over a stop and a start', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  await ask(first.databaseUrl, 'create table kept as select 42 as answer')
  await first.stop()
  expect(identify(first.pid)).toBeUndefined()

  const second = await start({ dataDir })

  expect(second.adopted).toBe(false)
  expect(second.databaseUrl).toBe(first.databaseUrl)
  expect(await ask(second.databaseUrl, 'select answer from kept')).toBe(42)
})

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

it('takes over the server of a store that was killed, and can stop it', async () => {
  const dataDir = await folder()
  const store = await startInOtherProcess(dataDir)
  await ask(store.databaseUrl, 'create table kept as select 42 as answer')
  store.child.kill('SIGKILL')
  await once(store.child, 'exit')

  const server = await start({ dataDir })

  expect(server.adopted).toBe(true)
  expect(server.databaseUrl).toBe(store.databaseUrl)
  expect(await ask(server.databaseUrl, 'select answer from kept')).toBe(42)
  await server.stop()
  expect(identify(server.pid)).toBeUndefined()
})

it('is out of reach of a Ctrl-C in the terminal of the store', async () => {
  const dataDir = await folder()
  const store = await startInOtherProcess(dataDir)
  process.kill(store.group, 'SIGINT')
  await once(store.child, 'exit')

  expect(await ask(store.databaseUrl, 'select 1')).toBe(1)
  expect((await start({ dataDir })).adopted).toBe(true)
})

it('recovers when the server itself was killed and its lock file stayed', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  await ask(first.databaseUrl, 'create table kept as select 42 as answer')
  process.kill(first.pid, 'SIGKILL')

  const second = await start({ dataDir })

  expect(second.adopted).toBe(false)
  expect(await ask(second.databaseUrl, 'select answer from kept')).toBe(42)
})

it('starts although the pid of a stale lock file belongs to another program now', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  const lock = join(dataDir, 'pg', 'postmaster.pid')
  const lines = (await readFile(lock, 'utf8')).split('\n')
  await first.stop()
  const account = await stat(join(dataDir, 'pg'))
  const other = spawn('sleep', ['60'], { uid: account.uid, gid: account.gid })
  cleanups.push(async () => other.kill())
  await writeFile(lock, [other.pid, ...lines.slice(1)].join('\n'))

  const second = await start({ dataDir })

  expect(second.adopted).toBe(false)
  expect(await ask(second.databaseUrl, 'select 1')).toBe(1)
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

it('waits for a server that needs seconds for each connection', async () => {
  const dataDir = await folder()
  await (await start({ dataDir })).stop()
  await writeFile(join(dataDir, 'pg', 'postgresql.auto.conf'), 'pre_auth_delay = 3\n')

  const server = await start({ dataDir })

  expect(await ask(server.databaseUrl, 'select 1')).toBe(1)
})

it('says so when the password was lost, and leaves nothing running', async () => {
  const dataDir = await folder()
  await (await start({ dataDir })).stop()
  await rm(join(dataDir, 'postgres.json'))

  await expect(startPostgres({ dataDir })).rejects.toThrow('does not take the password')
  await expect(stat(join(dataDir, 'pg', 'postmaster.pid'))).rejects.toThrow('ENOENT')
})

it('shows the end of the log when the server cannot start', async () => {
  const dataDir = await folder()
  await (await start({ dataDir })).stop()
  await writeFile(join(dataDir, 'pg', 'postgresql.conf'), 'nonsense = 1\n')

  await expect(startPostgres({ dataDir })).rejects.toThrow(
    /did not start(.|\n)*unrecognized configuration parameter "nonsense"/,
  )
})

it('begins again when its first start was killed in the middle', async () => {
  const dataDir = await folder()
  await mkdir(join(dataDir, 'pg.new', 'base'), { recursive: true })
  await writeFile(join(dataDir, 'pg.new', 'PG_VERSION'), '18\n')

  const server = await start({ dataDir })

  expect(await ask(server.databaseUrl, 'select 1')).toBe(1)
  expect((await readdir(dataDir)).sort()).toEqual(['pg', 'postgres.json', 'postgres.log'])
})

describe.runIf(isRoot)('as root', () => {
  it('keeps the cluster elsewhere when its account cannot reach the data folder', async () => {
    const closed = await folder(0o700)
    const systemDir = await folder()
    const dataDir = join(closed, 'data')
    const first = await start({ dataDir, systemDir })
    await ask(first.databaseUrl, 'create table kept as select 42 as answer')
    const home = String(await ask(first.databaseUrl, 'show data_directory'))
    expect(home.startsWith(join(systemDir, 'cluster-'))).toBe(true)
    await first.stop()

    const second = await start({ dataDir, systemDir })
    expect(await ask(second.databaseUrl, 'select answer from kept')).toBe(42)
    await second.stop()

    await rm(home, { recursive: true })
    await expect(startPostgres({ dataDir, systemDir })).rejects.toThrow('and is gone')
  })

  it('says what to do when the data folder was closed afterwards', async () => {
    const parent = await folder()
    const dataDir = join(parent, 'data')
    await (await start({ dataDir })).stop()
    await chmod(parent, 0o700)

    await expect(startPostgres({ dataDir })).rejects.toThrow('cannot reach it')
  })
})
