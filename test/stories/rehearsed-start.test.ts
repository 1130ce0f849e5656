import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import { runStoreToItsEnd } from '../child-store.ts'
import { fundedGasKey } from '../harness/gas.ts'
import { query } from '../harness/query.ts'
import { mintUsdc } from './chain.ts'
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
  expect(code).toBe(78)
  expect(output).toMatch(problem)
  expect(await tablesIn(live['DATABASE_URL'])).toEqual([])
})
