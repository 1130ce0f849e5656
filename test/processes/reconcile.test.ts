import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import {
  type ChildStore,
  newDataDir,
  runStoreToItsEnd,
  runToItsEnd,
  startChildStore,
} from '../child-store.ts'
import { emptyWallet, mintUsdc, transfersBetween } from '../stories/chain.ts'
import { bodyFor, buy, eventually, get, until } from '../stories/requests.ts'
import { buyerAt } from './data-folder.ts'

let dataDir: string
const running: ChildStore[] = []
const env = { SANDBOX_OFFERS: '600' }

beforeEach(async () => {
  dataDir = await newDataDir()
})
afterEach(async () => {
  for (const store of running.splice(0)) await store.stop()
  await rm(dataDir, { recursive: true, force: true })
})

async function start(): Promise<ChildStore> {
  const store = await startChildStore({ dataDir, env })
  running.push(store)
  return store
}

/** `kiosk402 reconcile`, with every payment old enough to be looked at. */
function reconcile(...args: string[]) {
  const command = ['src/commands/main.ts', 'reconcile', '--settle-minutes', '0', ...args]
  return runToItsEnd(command, { ...env, DATA_DIR: dataDir })
}

async function buyAt(store: ChildStore, outcome: string) {
  const buyer = await buyerAt(store, dataDir)
  const bought = await buy(store, buyer, 'voucher', bodyFor('voucher', outcome))
  expect([200, 202]).toContain(bought.answer.status)
  return bought
}

/** What is in a block now cannot be dropped any more. */
async function becomesSafe({ rpcUrl }: { readonly rpcUrl: string }): Promise<void> {
  const client = chainClient(rpcUrl)
  const newest = await client.getBlockNumber()
  await eventually(
    () => client.getBlock({ blockTag: 'safe' }),
    ({ number }) => number >= newest,
  )
}

/** Copies as a file backup does, with owners and rights. */
function copy(from: string, to: string): void {
  execFileSync('rm', ['-rf', join(dataDir, to)])
  execFileSync('cp', ['-a', join(dataDir, from), join(dataDir, to)])
}

/** Which store it is, and nothing else. */
const told =
  /^Kiosk402: sandbox on Base Sepolia, database \S+ at \S+, settings of the environment\n$/

test('runs beside the store, and without it; its report is for people and for programs', async () => {
  const store = await start()
  await buyAt(store, 'OK')
  const file = join(dataDir, 'connection.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const beside = await reconcile()
  expect(beside).toMatchObject({ code: 0, stderr: expect.stringMatching(told) })
  expect(beside.stdout).toContain('Nothing differs.')
  expect(beside.stdout).toMatch(/ledger +0\.50 +0\.50 +0\.00 +0\.00/)
  expect((await get(store.url, '/readyz')).status).toBe(200)

  await store.stop()
  expect(existsSync(file)).toBe(false)
  const alone = await reconcile('--json')
  expect(alone.code).toBe(0)
  expect(alone.stderr).toContain('No store is running')
  expect(JSON.parse(alone.stdout)).toMatchObject({
    differences: [],
    totals: { orders: 1, chain: { received: '500000', refunded: '0', unmatched: '0' } },
  })
})

test('a float that was taken out is a difference until a person vouches for it', async () => {
  const { url } = await start()
  const { body } = await get(url, '/sandbox')
  const keys = JSON.parse(readFileSync(join(dataDir, 'chain/keys.json'), 'utf8'))
  const parts = { rpcUrl: body.rpcUrl, usdc: body.usdc, keys }
  const float = privateKeyToAddress(keys.refund)
  const elsewhere = privateKeyToAddress(generatePrivateKey())

  await mintUsdc(parts, float, 5_000_000n)
  await becomesSafe(parts)
  expect((await reconcile()).code).toBe(0)
  await emptyWallet(parts, keys.refund, elsewhere)
  await becomesSafe(parts)
  const [moved] = await transfersBetween(parts, float, elsewhere)
  const transaction = moved?.transactionHash ?? ''
  const named = await reconcile()
  expect(named).toMatchObject({ code: 1 })
  expect(named.stdout).toContain(`refund_wallet_moved  ${transaction}`)

  const vouch = (...why: string[]) => reconcile('--acknowledge', transaction, ...why)
  expect(await vouch()).toMatchObject({ code: 2, stderr: expect.stringContaining('--reason') })
  const vouched = await vouch('--reason', 'Float to the cold wallet', '--as', 'Ann Smith')
  expect(vouched).toMatchObject({ code: 0 })
  const clean = await reconcile()
  expect(clean).toMatchObject({ code: 0 })
  expect(clean.stdout).toContain('Float to the cold wallet (Ann Smith)')
})

test('a store on an old backup ends at once, and starts again after --rebuild', async () => {
  const first = await start()
  await buyAt(first, 'OK')
  await first.stop()
  copy('pg', 'backup')

  const second = await start()
  const { answer, send } = await buyAt(second, 'FAIL')
  const { orderId } = answer.body
  await until(second, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  await second.stop()
  copy('backup', 'pg')

  const refused = await runStoreToItsEnd({ ...env, DATA_DIR: dataDir, PORT: String(second.port) })
  expect(refused.code).toBe(78)
  expect(refused.output).toContain('kiosk402 reconcile --rebuild')
  const looked = await reconcile()
  expect(looked.code).toBe(1)
  expect(looked.stdout).toContain(`refund_not_booked  ${orderId}`)
  const rehearsed = await reconcile('--rebuild', '--dry-run')
  expect(rehearsed).toMatchObject({ code: 0 })
  expect(rehearsed.stdout).toContain(`${orderId}  refunded, as the chain has it`)
  expect((await reconcile()).code).toBe(1)
  const rebuilt = await reconcile('--rebuild')
  expect(rebuilt).toMatchObject({ code: 0 })
  expect(rebuilt.stdout).toContain(`${orderId}  refunded, as the chain has it`)

  const third = await startChildStore({ dataDir, env, port: second.port })
  running.push(third)
  expect((await send()).body).toMatchObject({ refund_state: 'REFUNDED' })
})

test('it says what it could not look at, and ends with 2', async () => {
  const nowhere = await reconcile()
  expect(nowhere).toMatchObject({ code: 2, stdout: '' })
  expect(nowhere.stderr).toContain('has no store in it')
  expect(await reconcile('--from-block', 'yesterday')).toMatchObject({ code: 2 })
  expect((await reconcile('--help')).stdout).toContain('--rebuild')
})
