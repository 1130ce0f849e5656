import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { startChain } from '../../sandbox/chain/chain.ts'
import { freePort } from '../../sandbox/port.ts'
import { startPostgres } from '../../sandbox/postgres/postgres.ts'
import { createDatabase } from '../../sandbox/postgres/test-postgres.ts'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import { newDataDir } from '../child-store.ts'
import { fundedGasKey } from './gas.ts'
import type { NodeSettings } from './node.ts'

const supplierKey = 'sandbox_tool_key'

/** A PostgreSQL that syncs to disk, the EVM node with the real USDC contract, and a supplier of this size and pace. */
export async function startRealParts(pace: { readonly offers: number; readonly stepMs: number }) {
  await using starting = new AsyncDisposableStack()
  const dataDir = await newDataDir()
  starting.defer(() => rm(dataDir, { recursive: true, force: true }))
  const { databaseUrl } = starting.adopt(await startPostgres({ dataDir }), (one) => one.stop())
  const chain = starting.adopt(await startChain({ dataDir }), (one) => one.stop())
  const starts = startSupplier({ apiKey: supplierKey, ...pace })
  const supplier = starting.adopt(await starts, (one) => one.stop())
  const started = starting.move()
  return {
    chain,
    supplierUrl: supplier.url,
    newDatabase: () => createDatabase(databaseUrl),
    stop: () => started.disposeAsync(),
  }
}

export type RealParts = Awaited<ReturnType<typeof startRealParts>>

/** The settings of a store on these parts, with a port, a database and a gas wallet of its own. */
export async function settingsOn({
  chain,
  supplierUrl,
  newDatabase,
}: Omit<RealParts, 'stop'>): Promise<NodeSettings> {
  const port = await freePort()
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    env: { TRUSTED_PROXIES: '1' },
    rpcUrl: chain.rpcUrl,
    payTo: chain.keys.payTo,
    gasKey: await fundedGasKey(chain.rpcUrl),
    refundKey: chain.keys.refund,
    databaseUrl: await newDatabase(),
    supplierUrl,
    supplierKey,
    webhook: { header: 'x-supplier-webhook', value: randomBytes(16).toString('hex') },
  }
}
