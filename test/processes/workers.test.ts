import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startPostgres } from '../../sandbox/postgres/postgres.ts'
import { identify } from '../../sandbox/process.ts'
import { type ChildStore, newDataDir, runStoreToItsEnd, startChildStore } from '../child-store.ts'
import { query } from '../harness/query.ts'
import { bodyFor, buy, eventually } from '../stories/requests.ts'
import { buyerAt, partsOf } from './data-folder.ts'

let dataDir: string
const running: ChildStore[] = []

beforeEach(async () => {
  dataDir = await newDataDir()
})
afterEach(async () => {
  for (const store of running.splice(0)) await store.stop()
  await rm(dataDir, { recursive: true, force: true })
})

/** A store of two processes, both of which listen. */
async function start(): Promise<ChildStore> {
  const env = { SANDBOX_OFFERS: '600', WORKERS: '2' }
  const store = await startChildStore({ dataDir, env })
  running.push(store)
  await eventually(
    async () => store.output(),
    (output) => output.includes('is ready'),
  )
  return store
}

interface LogLine {
  readonly msg: string
  readonly worker?: number
  readonly pid?: number
  readonly signal?: string
  readonly route?: string
}

/** What the processes wrote into the log so far. The last line may not be whole yet. */
async function log(): Promise<readonly LogLine[]> {
  const lines = readFileSync(join(dataDir, 'store.log'), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as LogLine)
}

/** The process ids of all workers that ever listened, in the order of their numbers. */
function workersOnce(listened: number): Promise<readonly number[]> {
  const ready = async () => (await log()).filter(({ msg }) => msg === 'a worker process is ready')
  return eventually(ready, (lines) => lines.length === listened).then((lines) =>
    lines.toSorted((a, b) => (a.worker ?? 0) - (b.worker ?? 0)).map(({ pid }) => pid ?? Number.NaN),
  )
}

/** One request; on a connection of its own, so that the next one may meet another worker, unless told otherwise. */
function ask({ url }: ChildStore, path: string, agent: Agent | false = false) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request(`${url}${path}`, { agent }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
    })
    sent.on('error', reject).end()
  })
}

/** How often the path was answered with 200, by all workers together. */
async function countedAt(store: ChildStore, path: string): Promise<number> {
  const { body } = await ask(store, '/metrics')
  const line = `kiosk402_http_requests_total{route="${path}",method="GET",status="200"} `
  return Number(body.split(line)[1]?.split('\n')[0] ?? 0)
}

/** A connection that waits in the system until the primary accepts it. */
async function knock({ port }: ChildStore): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** The first line of the answer on such a connection. */
async function statusOn(socket: Socket): Promise<string | undefined> {
  socket.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  return (await text(socket)).split('\r\n')[0]
}

const gone = (pid: number) => identify(pid) === undefined

test('two processes serve one port, and are one store to their clients', async () => {
  const store = await start()
  expect(store.output().match(/is ready/g)).toHaveLength(1)
  expect(store.output()).toContain('served by 2 processes')

  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(store, '/ai/vouchers')))
  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(60).fill(200), ...Array(40).fill(429)])
  const answered = async () =>
    (await log()).filter(({ route }) => route === '/ai/vouchers').map(({ worker }) => worker)
  const by = await eventually(answered, (workers) => workers.length === 60)
  expect([...new Set(by)].sort()).toEqual([1, 2])
  expect(await countedAt(store, '/ai/vouchers')).toBe(60)

  const buyer = await buyerAt(store, dataDir)
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  expect(answer).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })

  const pids = [...(await workersOnce(2)), ...partsOf(dataDir)]
  expect(pids.some(gone)).toBe(false)
  expect(await store.stop()).toMatchObject({ code: 0 })
  expect(pids.filter((pid) => !gone(pid))).toEqual([])
})

test('a worker that is killed is missed by nobody, and another takes its place', async () => {
  const store = await start()
  for (let count = 0; count < 10; count += 1) await ask(store, '/ai/vouchers')
  expect(await countedAt(store, '/ai/vouchers')).toBe(10)
  const [victim = Number.NaN] = await workersOnce(2)

  // The primary, which stood still, hands the first of these to the dead one before it knows.
  store.process.kill('SIGSTOP')
  const sockets = await Promise.all(Array.from({ length: 4 }, () => knock(store)))
  process.kill(victim, 'SIGKILL')
  store.process.kill('SIGCONT')
  const statuses = await Promise.all(sockets.map(statusOn))
  expect(statuses).toEqual(Array(4).fill('HTTP/1.1 200 OK'))
  await eventually(async () => gone(victim), Boolean)
  expect((await ask(store, '/readyz')).status).toBe(200)
  const [, , newcomer = Number.NaN] = await workersOnce(3)
  expect(gone(newcomer)).toBe(false)
  expect((await log()).filter(({ msg }) => msg.startsWith('a worker process exited'))).toEqual([
    expect.objectContaining({ pid: victim, signal: 'SIGKILL' }),
  ])
  expect(store.output()).toContain('a worker process exited, a replacement is started')

  // What the dead one counted still counts: for the limit, and for the numbers.
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask(store, '/ai/vouchers')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
  expect(await countedAt(store, '/ai/vouchers')).toBe(60)
  expect(await store.stop()).toMatchObject({ code: 0 })
  expect(gone(newcomer)).toBe(true)
})

test('while no worker lives, whoever comes waits for the next one and is answered', async () => {
  const store = await start()
  const victims = await workersOnce(2)
  for (const victim of victims) process.kill(victim, 'SIGKILL')
  await eventually(async () => victims.every(gone), Boolean)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => knock(store)))
  expect(await Promise.all(sockets.map(statusOn))).toEqual(Array(20).fill('HTTP/1.1 200 OK'))
  expect(await store.stop()).toMatchObject({ code: 0 })
})

test('a worker that dies after a newer version changed the tables is replaced, as long as it can work', async () => {
  const store = await start()
  const { databaseUrl } = await startPostgres({ dataDir })
  const apply = (name: string, needs: string | null) =>
    query(
      databaseUrl,
      `insert into schema_migrations values ('${name}', 'of a newer version', now(), $1)`,
      [needs],
    )
  await apply('998-first.sql', null)
  const [victim = Number.NaN] = await workersOnce(2)
  process.kill(victim, 'SIGKILL')
  const [, , newcomer = Number.NaN] = await workersOnce(3)
  expect((await ask(store, '/readyz')).status).toBe(200)

  await apply('999-second.sql', '998-first.sql')
  process.kill(newcomer, 'SIGKILL')
  await eventually(
    async () => store.process.exitCode,
    (code) => code === 1,
  )
  expect(store.output()).toContain('"999-second.sql" takes away what this version uses')
})

test('when the primary is killed its workers end, and the next start goes on', async () => {
  const first = await start()
  const workers = await workersOnce(2)
  await first.stop('SIGKILL')
  await eventually(async () => workers.every(gone), Boolean)
  const second = await start()
  expect((await ask(second, '/ai/vouchers')).status).toBe(200)
  expect(await second.stop()).toMatchObject({ code: 0 })
})

test('while the primary stands still its workers answer, and count alone', async () => {
  const store = await start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  expect((await ask(store, '/ai/vouchers', agent)).status).toBe(200)
  store.process.kill('SIGSTOP')
  try {
    expect((await ask(store, '/ai/vouchers', agent)).status).toBe(200)
  } finally {
    store.process.kill('SIGCONT')
    agent.destroy()
  }
  const alone = async () =>
    (await log()).filter(({ msg }) => msg === 'rate limits are counted in this process alone')
  expect(await eventually(alone, (lines) => lines.length > 0)).toHaveLength(1)
  expect(await store.stop()).toMatchObject({ code: 0 })
})

test('a port that is taken is told once, and nothing stays behind', async () => {
  const store = await start()
  const other = await newDataDir()
  const env = { PORT: String(store.port), DATA_DIR: other, SANDBOX_OFFERS: '600', WORKERS: '2' }
  const { code, output } = await runStoreToItsEnd(env)
  expect(code).toBe(1)
  expect(output.match(/PORT \d+ is taken/g)).toEqual([`PORT ${store.port} is taken`])
  expect(partsOf(other).every(gone)).toBe(true)
  expect((await ask(store, '/livez')).status).toBe(200)
  await rm(other, { recursive: true, force: true })
})
