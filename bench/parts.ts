import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { startChain } from '../sandbox/chain/chain.ts'
import { freePort } from '../sandbox/port.ts'
import { startPostgres } from '../sandbox/postgres/postgres.ts'
import { startSupplier } from '../sandbox/supplier/server.ts'
import { newDataDir } from '../test/child-store.ts'
import { fundedGasKey } from '../test/harness/gas.ts'
import type { NodeSettings } from '../test/harness/node.ts'
import { startProxy } from '../test/harness/proxy.ts'

const supplierKey = 'sandbox_bench_key'
/** Enough for 2,000 purchases of the test voucher; atomic USDC. */
const pocketMoney = 10_000_000_000n

/** Longer than the supplier takes to deliver. */
const deliveredMs = 15

/** A PostgreSQL that syncs to disk, a real EVM node, and a supplier that delivers at once. */
export async function startParts() {
  await using starting = new AsyncDisposableStack()
  const dataDir = await newDataDir()
  starting.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = starting.adopt(await startPostgres({ dataDir }), (server) => server.stop())
  const chain = starting.adopt(await startChain({ dataDir }), (node) => node.stop())
  const options = { apiKey: supplierKey, offers: 60, stepMs: 1 }
  const supplier = starting.adopt(await startSupplier(options), (server) => server.stop())
  const proxy = starting.adopt(await startProxy(supplier.url), (server) => server.close())
  // The first look finds the goods, so that no pause between two looks is measured.
  proxy.breakCalls((call) =>
    /^GET .*purchases\//.test(call) ? delay(deliveredMs, 'none') : 'none',
  )
  const started = starting.move()
  return {
    chain,
    supplierUrl: proxy.url,
    async newAccount(): Promise<PrivateKeyAccount> {
      const account = privateKeyToAccount(generatePrivateKey())
      await chain.faucet(account.address, pocketMoney)
      return account
    },
    /** An empty database of its own on the same server. */
    async newDatabase(): Promise<string> {
      const name = `bench_${randomBytes(6).toString('hex')}`
      const client = new pg.Client(postgres.databaseUrl)
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      const url = new URL(postgres.databaseUrl)
      url.pathname = `/${name}`
      return url.href
    },
    stop: () => started.disposeAsync(),
  }
}

export type Parts = Awaited<ReturnType<typeof startParts>>

/** The settings of a store on these parts, with a database and a gas wallet of its own. */
export async function settingsOf({
  chain,
  supplierUrl,
  newDatabase,
}: Parts): Promise<NodeSettings> {
  const port = await freePort()
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    env: { TRUSTED_PROXIES: '1' },
    rpcUrl: chain.rpcUrl,
    payTo: chain.keys.payTo,
    gasKey: await fundedGasKey(chain.rpcUrl),
    refundKey: chain.keys.refund as Hex,
    databaseUrl: await newDatabase(),
    supplierUrl,
    supplierKey,
    webhook: { header: 'x-supplier-webhook', value: randomBytes(16).toString('hex') },
  }
}
