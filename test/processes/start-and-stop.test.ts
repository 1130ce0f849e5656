import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { identify, plainEnvironment } from '../../sandbox/process.ts'
import {
  type ChildStore,
  type ChildStoreOptions,
  newDataDir,
  runStoreToItsEnd,
  startChildStore,
} from '../child-store.ts'
import { balanceOf } from '../stories/chain.ts'
import {
  bodyFor,
  buy,
  buyDelivered,
  eventually,
  get,
  post,
  purchasePath,
  until,
} from '../stories/requests.ts'
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

async function start(options: Partial<ChildStoreOptions> = {}): Promise<ChildStore> {
  const store = await startChildStore({
    dataDir,
    ...options,
    env: { SANDBOX_OFFERS: '600', ...options.env },
  })
  running.push(store)
  return store
}

const programOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()

/** The supplier's admin side. */
async function supplierOf(store: ChildStore) {
  const { supplierUrl } = (await get(store.url, '/sandbox')).body
  const { secrets } = JSON.parse(readFileSync(join(dataDir, 'services/access.json'), 'utf8'))
  const headers = { authorization: `Bearer ${secrets.supplierKey}` }
  return { url: supplierUrl.replace(/\/v1$/, ''), headers }
}

/** Lets the supplier of a folder's store give its final word on the purchase it holds. */
async function deliverAtSupplier(store: ChildStore, reference: string): Promise<void> {
  const { url, headers } = await supplierOf(store)
  const verdict = { transactionId: reference, status: 'DONE' }
  const forced = await post(url, '/_admin/purchases', verdict, headers)
  expect(forced.status).toBe(200)
}

test('starts from nothing, stops everything it started, and has its orders, catalog and chain again', async () => {
  const first = await start()
  expect(first.output()).toMatch(/is ready \(\d+\.\d s\)/)
  expect(first.output()).toContain('/.well-known/x402')
  const parts = partsOf(dataDir)
  const services = expect.stringMatching(/node|MainThread/)
  expect(parts.map(programOf)).toEqual(['postgres', 'anvil', services])
  const buyer = await buyerAt(first, dataDir)
  const { answer, order } = await buyDelivered(first, buyer, 'voucher')
  const { total } = (await get(first.url, '/ai/vouchers')).body
  expect(await first.stop()).toMatchObject({ code: 0 })
  expect(parts.map(identify)).toEqual([undefined, undefined, undefined])

  const second = await start()
  const { orderId, accessToken } = answer.body
  const again = await get(second.url, `/api/catalog/orders/${orderId}`, {
    authorization: `Bearer ${accessToken}`,
  })
  expect(again.body.orders[0].result.code).toBe(order.orders[0].result.code)
  expect((await get(second.url, '/ai/vouchers')).body.total).toBe(total)
  const { payTo } = JSON.parse(readFileSync(join(dataDir, 'chain/keys.json'), 'utf8'))
  const takings = await balanceOf(
    (await get(second.url, '/sandbox')).body,
    privateKeyToAddress(payTo),
  )
  expect(takings).toBe(500_000n)
})

test.each([
  { signal: 'SIGKILL', code: null, env: { PURCHASE_WAIT_SECONDS: '1' } },
  { signal: 'SIGTERM', code: 0, env: {} },
] as const)(
  'ended by $signal in the middle of a purchase, it goes on after the next start',
  async ({ signal, code, env }) => {
    const first = await start({ env })
    const buyer = await buyerAt(first, dataDir)
    const body = bodyFor('topup', 'HANG')
    const buying = buy(first, buyer, 'topup', body)
    const { url, headers } = await supplierOf(first)
    await eventually(
      () => get(url, '/_admin/ledger', headers),
      ({ body }) => body.purchases.length === 1,
    )
    // Who is told to stop answers the buyer first; who is killed had answered before.
    const stopped = signal === 'SIGTERM' ? first.stop() : undefined
    const { answer } = await buying
    expect(answer).toMatchObject({ status: 202, body: { orders: [{ state: 'FULFILLING' }] } })
    expect(await (stopped ?? first.stop(signal))).toMatchObject({ code })

    const second = await start()
    const { orderId, accessToken } = answer.body
    await deliverAtSupplier(second, orderId.replace('_', ''))
    const token = { authorization: `Bearer ${accessToken}` }
    const isDelivered = ({ orders: [{ state }] }: { orders: [{ state: string }] }) =>
      state === 'FULFILLED'
    const order = await until(second, orderId, isDelivered, token)
    expect(order.orders[0].result).toMatchObject({ msisdn: body['msisdn'] })
  },
)

test('a second store on the same folder, or on a taken port, is told so and leaves the first alone', async () => {
  const store = await start()
  await expect(start()).rejects.toThrow(/Another store \(process \d+\) is running in/)
  const other = await newDataDir()
  const env = { PORT: String(store.port), DATA_DIR: other, SANDBOX_OFFERS: '600' }
  const { code, output } = await runStoreToItsEnd(env)
  expect([code, output]).toEqual([1, expect.stringContaining(`PORT ${store.port} is taken`)])
  // Nothing else was started before.
  expect(readdirSync(other)).toEqual([])
  expect(partsOf(dataDir).every((pid) => identify(pid) !== undefined)).toBe(true)
  expect((await get(store.url, '/livez')).status).toBe(200)
  await rm(other, { recursive: true, force: true })
})

test('told to stop, it says so to its balancer and serves on until the time for that is over', async () => {
  const store = await start({ env: { DRAIN_SECONDS: '3' } })
  const stopped = store.stop()
  const ready = await eventually(
    () => get(store.url, '/readyz'),
    ({ status }) => status !== 200,
  )
  expect(ready).toMatchObject({ status: 503, body: { status: 'draining' } })
  const price = await post(store.url, purchasePath('voucher'), bodyFor('voucher', 'OK'))
  expect(price.status).toBe(402)
  expect((await get(store.url, '/livez')).status).toBe(200)
  const { ms, code } = await stopped
  expect(code).toBe(0)
  expect(ms).toBeGreaterThanOrEqual(3_000)
})

const moments = [
  { signal: 'SIGHUP', says: 'Making the database' },
  { signal: 'SIGTERM', says: 'Reading the catalog' },
] as const

test.each(moments)(
  'told to end by $signal when it says "$says", it leaves nothing behind',
  async ({ signal, says }) => {
    const env = { ...plainEnvironment(), DATA_DIR: dataDir, SANDBOX_OFFERS: '600' }
    const port = String(await freePort())
    const child = spawn(process.execPath, ['src/main.ts'], {
      env: { ...env, PORT: port },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.includes(says)) child.kill(signal)
      })
    }
    expect(await once(child, 'close'), output).toEqual([0, null])
    expect(output).toContain(says)
    expect(processesOf(dataDir)).toEqual([])
  },
)

/** The command lines of all processes that name this folder. */
function processesOf(folder: string): readonly string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return ids.map(commandOf).filter((command) => command.includes(folder))
}

function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}
