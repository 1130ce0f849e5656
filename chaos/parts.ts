import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { type Chain, startChain } from '../sandbox/chain/chain.ts'
import { freePort } from '../sandbox/port.ts'
import { startPostgres } from '../sandbox/postgres/postgres.ts'
import { type LaunchedSupplier, launchSupplier } from '../sandbox/supplier/launch.ts'
import { fundedGasKey } from '../test/harness/gas.ts'
import { startProxy } from '../test/harness/proxy.ts'
import type { Wanted } from './arguments.ts'
import { type KeptNode, keepNode } from './node.ts'

/** What the supplier needs for one of the four steps of a purchase. */
const stepMs = 20

/**
 * Much shorter times than in a real store, so that a run sees many orders end in every way. Goods
 * that come late come after the deadline and the grace, so their orders are paid back before.
 */
function timesOf(deadlineSeconds: number) {
  return { graceSeconds: Math.ceil(deadlineSeconds / 3), lateSeconds: 2 * deadlineSeconds }
}

function storeEnvironment(deadlineSeconds: number): Readonly<Record<string, string>> {
  return {
    TRUSTED_PROXIES: '1',
    PURCHASE_WAIT_SECONDS: '1',
    FULFILLMENT_DEADLINE_SECONDS: String(deadlineSeconds),
    REFUND_GRACE_SECONDS: String(timesOf(deadlineSeconds).graceSeconds),
    REFUND_HOURLY_CAP_USDC: '1000000',
    REFUND_DAILY_CAP_USDC: '1000000',
    // A dozen wallets buy thousands of orders, many of which fail.
    UNPAID_PAYMENTS_PER_HOUR: '1000000',
    FAILED_ORDERS_PER_HOUR: '1000000',
  }
}

/** Atomic USDC: more than a run can spend. */
const enoughUsdc = 1_000_000_000_000n

/** Everything that a run is made of. */
export interface Parts {
  readonly dataDir: string
  readonly chain: Chain
  readonly supplier: LaunchedSupplier
  readonly refundWallet: string
  readonly database: KilledDatabase
  readonly nodes: readonly KeptNode[]
  /** Between the nodes and the chain, and between the nodes and the supplier. */
  readonly proxies: { readonly chain: Proxy; readonly supplier: Proxy }
  readonly newAccounts: (count: number) => Promise<ReturnType<typeof privateKeyToAccount>[]>
}

type Proxy = Awaited<ReturnType<typeof startProxy>>

/**
 * Starts all parts in a folder of their own: PostgreSQL with fsync, the EVM node with the real USDC
 * contract, the supplier, and the nodes of the store, each a process.
 *
 * @param stops gets what ends each part, the newest first, also when a later part does not start
 */
export async function startParts(
  dataDir: string,
  wanted: Pick<Wanted, 'nodes' | 'deadlineSeconds'>,
  stops: (() => Promise<unknown>)[],
): Promise<Parts> {
  const database = await openDatabase(dataDir)
  stops.unshift(database.stop)
  const chain = await startChain({ dataDir })
  stops.unshift(chain.stop)
  const ports: number[] = []
  for (let at = 0; at < wanted.nodes; at += 1) ports.push(await freePort())
  const supplier = await launchSupplier({
    dataDir,
    offers: 100,
    lateSeconds: timesOf(wanted.deadlineSeconds).lateSeconds,
    stepMs,
    webhookUrl: `http://127.0.0.1:${ports[0]}/webhooks/supplier`,
  })
  stops.unshift(supplier.stop)
  const proxies = {
    chain: await startProxy(chain.rpcUrl),
    supplier: await startProxy(new URL('/', supplier.url).href),
  }
  stops.unshift(proxies.chain.close, proxies.supplier.close)
  const refundWallet = privateKeyToAddress(chain.keys.refund)
  await chain.faucet(refundWallet, enoughUsdc)
  const nodes: KeptNode[] = []
  const parts: Parts = {
    dataDir,
    chain,
    supplier,
    refundWallet: refundWallet.toLowerCase(),
    database,
    nodes,
    proxies,
    newAccounts: (count) => newAccounts(chain, count),
  }
  for (const [at, port] of ports.entries()) {
    const node = keepNode(
      await settingsOf(parts, `node-${at}`, {
        port,
        env: storeEnvironment(wanted.deadlineSeconds),
      }),
    )
    stops.unshift(node.stop)
    nodes.push(node)
  }
  await Promise.race([Promise.all(nodes.map(({ ready }) => ready)), tooLate(dataDir)])
  return parts
}

async function settingsOf(
  { chain, supplier, database, proxies, dataDir }: Parts,
  name: string,
  own: { readonly port: number; readonly env: Readonly<Record<string, string>> },
) {
  return {
    ...own,
    url: `http://127.0.0.1:${own.port}`,
    rpcUrl: proxies.chain.url,
    payTo: chain.keys.payTo,
    gasKey: await fundedGasKey(chain.rpcUrl),
    refundKey: chain.keys.refund,
    databaseUrl: database.url,
    supplierUrl: proxies.supplier.url,
    supplierKey: supplier.apiKey,
    webhook: supplier.webhook,
    logFile: join(dataDir, `${name}.log`),
  }
}

async function newAccounts(chain: Chain, count: number) {
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
  for (const { address } of accounts) await chain.faucet(address, enoughUsdc)
  return accounts
}

type KilledDatabase = Awaited<ReturnType<typeof openDatabase>>

/** A PostgreSQL that syncs to disk, and that can be killed and started again on its folder. */
async function openDatabase(dataDir: string) {
  const state = { server: await startPostgres({ dataDir }) }
  const url = state.server.databaseUrl

  /** The remains of the killed server may take a moment to end. */
  async function startAgain(tries = 5): Promise<void> {
    try {
      state.server = await startPostgres({ dataDir })
    } catch (error) {
      if (tries === 0) throw error
      appendFileSync(join(dataDir, 'restarts.log'), `${error}\n`)
      await delay(500)
      return startAgain(tries - 1)
    }
    if (state.server.databaseUrl !== url) throw new Error('PostgreSQL lost its port to another.')
  }

  return {
    url,
    /** Kills the postmaster; its backends end with it. Returns when the database is back. */
    async kill(downMs: number) {
      process.kill(state.server.pid, 'SIGKILL')
      await delay(downMs)
      await startAgain()
    },
    stop: () => state.server.stop(),
  }
}

async function tooLate(dataDir: string): Promise<never> {
  await delay(60_000, undefined, { ref: false })
  throw new Error(`The nodes did not become ready; see their logs in ${dataDir}.`)
}
