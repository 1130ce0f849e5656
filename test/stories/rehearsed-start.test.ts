import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import { runStoreToItsEnd, runToItsEnd, startChildStore } from '../child-store.ts'
import { fundedGasKey } from '../harness/gas.ts'
import { query } from '../harness/query.ts'
import { newBuyer } from './buyer.ts'
import { mintUsdc } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import { get } from './requests.ts'
import { newDatabase } from './store.ts'

// A store in live mode, as its operator starts it, at a node whose money is not real.

const supplierKey = 'sandbox_story_key'
let supplier: Awaited<ReturnType<typeof startSupplier>>
let live: Record<string, string>
beforeAll(async () => {
  supplier = await startSupplier({ apiKey: supplierKey, offers: 100, stepMs: 15, lateSeconds: 660 })
  const parts = inject('parts')
  const { databaseUrl, rpcUrl } = parts
  const refundKey = generatePrivateKey()
  await mintUsdc(parts, privateKeyToAddress(refundKey), 1_000_000_000n)
  live = {
    MODE: 'live',
    NETWORK: 'base-sepolia',
    RPC_URL: rpcUrl,
    PAY_TO: privateKeyToAddress(generatePrivateKey()),
    GAS_KEY: await fundedGasKey(rpcUrl),
    REFUND_KEY: refundKey,
    DATABASE_URL: await newDatabase(databaseUrl),
    SUPPLIER_URL: `${supplier.url}/v1`,
    SUPPLIER_KEY: supplierKey,
    RATES_URL: `${supplier.url}/rates/v1/latest`,
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    PUBLIC_URL: 'http://127.0.0.1',
  }
})
afterAll(() => supplier.stop())

const tablesIn = (databaseUrl = '') =>
  query(databaseUrl, `select tablename from pg_tables where schemaname = 'public'`)

test.each([
  ['a development node', {}, /RPC_URL: it is a development node .* REHEARSAL=1 to use it/],
  ['the node of another chain', { NETWORK: 'base' }, /RPC_URL: it serves chain 84532/],
  [
    'another key than the supplier’s',
    { REHEARSAL: '1', SUPPLIER_KEY: 'another-key' },
    /SUPPLIER_KEY: the supplier refuses it/,
  ],
])('a start that is refused for %s leaves the database as it was', async (_, wrong, problem) => {
  const { code, output } = await runStoreToItsEnd({ ...live, ...wrong })
  expect(code).toBe(1)
  expect(output).toMatch(problem)
  expect(await tablesIn(live['DATABASE_URL'])).toEqual([])
})

/** A refund of a store with this key whose record is lost. */
async function paidBackWith(refundKey: Hex): Promise<void> {
  const parts = inject('parts')
  const wallet = await newBuyer(1_000_000n, parts, privateKeyToAccount(refundKey))
  const payment = await wallet.sign({
    ...{ amount: '500000', asset: parts.usdc, payTo: privateKeyToAddress(generatePrivateKey()) },
    ...{ network: 'eip155:84532', scheme: 'exact', maxTimeoutSeconds: 600 },
    extra: { name: 'USDC', version: '2' },
  })
  expect(await callToken(parts, settling(payment))).toBe('success')
}

test('a start that is refused for refunds which nothing records leaves an empty database empty', async () => {
  const refundKey = generatePrivateKey()
  await paidBackWith(refundKey)
  const { code, output } = await runStoreToItsEnd({
    ...live,
    REHEARSAL: '1',
    REFUND_KEY: refundKey,
  })
  expect(code).toBe(1)
  expect(output).toContain('no record here knows of it')
  expect(await tablesIn(live['DATABASE_URL'])).toEqual([])
})

test.each([
  ['reconcile'],
  ['reconcile --acknowledge 0xab --reason Mine --by Ann'],
  ['refunds status'],
  ['refunds stop --reason Looking'],
])('at a database that no store was opened in, %s says so and changes nothing', async (line) => {
  const [command, ...args] = line.split(' ')
  const file = `src/commands/${command}.ts`
  const { code, stderr } = await runToItsEnd([file, ...args], { ...live, REHEARSAL: '1' })
  expect(code).toBeGreaterThan(0)
  expect(stderr).toMatch(/database was not set up by this version of the store/)
  expect(await tablesIn(live['DATABASE_URL'])).toEqual([])
})

test('a rehearsal says on pages, in the manifest and in each line of its log that it is one', async () => {
  const store = await startChildStore({
    // Live mode keeps nothing in a folder.
    dataDir: '',
    env: { ...live, REHEARSAL: '1' },
  })
  try {
    for (const path of ['/', '/search', '/no-such-page']) {
      const answer = await fetch(`${store.url}${path}`, { headers: { accept: 'text/html' } })
      expect(await answer.text()).toContain('Rehearsal: test money only.')
    }
    const said = /^Rehearsal with test money on Base Sepolia: nothing here is for sale\. /
    expect((await get(store.url, '/.well-known/x402')).body.description).toMatch(said)
    expect((await get(store.url, '/ai')).body.description).toMatch(said)
    expect(await query(live['DATABASE_URL'] ?? '', 'select mode from store_identity')).toEqual([
      { mode: 'rehearsal' },
    ])
    await expect
      .poll(store.output)
      .toMatch(/is ready .*, REHEARSAL with test money on Base Sepolia/)
  } finally {
    await store.stop()
  }
  const lines = store
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.map((line) => JSON.parse(line).rehearsal)).toEqual(lines.map(() => true))
})

test('what a rehearsal has taken serves no other store', async () => {
  const { code, output } = await runStoreToItsEnd({ ...live, RPC_URL: 'http://127.0.0.1:9' })
  expect(code).toBe(1)
  expect(output).toContain('This database belongs to a rehearsal store on eip155:84532')
})
