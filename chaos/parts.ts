import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, parseAbi } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
  privateKeyToAddress,
} from 'viem/accounts'
import { startChain } from '../sandbox/chain/chain.ts'
import { chainClient } from '../sandbox/chain/rpc.ts'
import { launchSupplier } from '../sandbox/launch.ts'
import { freePort } from '../sandbox/port.ts'
import { startPostgres } from '../sandbox/postgres/postgres.ts'
import { fundedGasKey } from '../test/harness/gas.ts'
import type { NodeProcessSettings } from '../test/harness/node-process.ts'
import { startProxy } from '../test/harness/proxy.ts'
import { type KeptNode, keepNode } from './node.ts'

/** How long the supplier takes for each of the four steps of a purchase. */
const stepMs = 20

/** Two processes of the store on one database. */
const nodeCount = 2

/**
 * The daily cap is the default of a store. A run has the orders of a day in less than an hour, so the hourly
 * cap is as high. Half of the purchases fail by plan, at 0.66 USDC on average: the refunds of 10,500 come to
 * 3,300 USDC, and those of 12,000, the most of a run, to 3,800.
 */
const refundCaps = {
  REFUND_HOURLY_CAP_USDC: '5000',
  REFUND_DAILY_CAP_USDC: '5000',
} as const

/**
 * The float of docs/operators/treasury.md, 500 USDC. 16 buyers have at most 192 open purchases, worth about
 * 150 USDC: the half of the float at which it is topped up suffices for those.
 */
const floatAtomic = 500_000_000n
const lookEveryMs = 2_000

/**
 * Much shorter times than in a real store, so that many orders of a run end in every way. Late goods come
 * after the deadline and the grace, when their orders have been refunded.
 */
const lateSeconds = 12
const storeEnvironment = {
  TRUSTED_PROXIES: '1',
  PURCHASE_WAIT_SECONDS: '1',
  FULFILLMENT_DEADLINE_SECONDS: '6',
  REFUND_GRACE_SECONDS: '2',
  ...refundCaps,
} as const

/** More than a buyer can spend; atomic USDC. */
const enoughUsdc = 1_000_000_000_000n

/** All parts of a run. */
export interface Parts {
  readonly dataDir: string
  readonly chain: KilledChain
  readonly supplier: KilledSupplier
  readonly refundWallet: string
  readonly database: KilledDatabase
  readonly nodes: readonly KeptNode[]
  /** Between the nodes and the chain, and between the nodes and the supplier. */
  readonly proxies: { readonly chain: Proxy; readonly supplier: Proxy }
  /** A wallet with more USDC than it can spend. */
  readonly newAccount: () => Promise<PrivateKeyAccount>
  /** Gives a wallet this much USDC, in atomic units. Retries while the chain's node is down. */
  readonly fund: (address: Address, atomic: bigint) => Promise<void>
}

type Proxy = Awaited<ReturnType<typeof startProxy>>

/**
 * Starts all parts in a folder of their own: PostgreSQL with fsync, the EVM node with the real USDC
 * contract, the supplier, and the nodes of the store, each in a process of its own.
 *
 * @param stops receives the function that stops each part, the newest first, even if a later part fails to start
 */
export async function startParts(
  dataDir: string,
  stops: (() => Promise<unknown>)[],
): Promise<Parts> {
  const database = await openDatabase(dataDir)
  stops.unshift(database.stop)
  const chain = await openChain(dataDir)
  stops.unshift(chain.stop)
  const ports: number[] = []
  for (let at = 0; at < nodeCount; at += 1) ports.push(await freePort())
  const supplier = await openSupplier({
    dataDir,
    offers: 100,
    lateSeconds,
    stepMs,
    webhookUrl: `http://127.0.0.1:${ports[0]}/webhooks/supplier`,
  })
  stops.unshift(supplier.stop)
  const proxies = {
    chain: await startProxy(chain.rpcUrl),
    supplier: await startProxy(new URL('/', supplier.url).href),
  }
  stops.unshift(proxies.chain.close, proxies.supplier.close)
  // Not the refund wallet of the sandbox, which has more USDC than any operator.
  const refundKey = generatePrivateKey()
  const refundWallet = privateKeyToAddress(refundKey)
  await chain.faucet(refundWallet, floatAtomic)
  const nodes: KeptNode[] = []
  const parts: Parts = {
    dataDir,
    chain,
    supplier,
    refundWallet: refundWallet.toLowerCase(),
    database,
    nodes,
    proxies,
    newAccount: () => newAccount(chain),
    fund: (address, atomic) => fund(chain, address, atomic),
  }
  for (const [at, port] of ports.entries()) {
    const own = { port, env: storeEnvironment, refundKey }
    const settings = await settingsOf(parts, `node-${at}.log`, own)
    const node = keepNode(settings)
    stops.unshift(node.stop)
    nodes.push(node)
  }
  await Promise.race([Promise.all(nodes.map(({ ready }) => ready)), tooLate(dataDir)])
  return parts
}

async function settingsOf(
  { chain, supplier, database, proxies, dataDir }: Parts,
  logName: string,
  own: Pick<NodeProcessSettings, 'port' | 'env' | 'refundKey'>,
) {
  return {
    ...own,
    url: `http://127.0.0.1:${own.port}`,
    rpcUrl: proxies.chain.url,
    payTo: chain.keys.payTo,
    gasKey: await fundedGasKey(chain.rpcUrl),
    databaseUrl: database.url,
    supplierUrl: proxies.supplier.url,
    supplierKey: supplier.apiKey,
    webhook: supplier.webhook,
    logFile: join(dataDir, logName),
  }
}

async function newAccount(chain: KilledChain): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await fund(chain, account.address, enoughUsdc)
  return account
}

async function fund(chain: KilledChain, address: Address, atomic: bigint): Promise<void> {
  while (!(await isFunded(chain, address, atomic))) await delay(200)
}

/** If the answer of the chain is lost, the wallet is funded twice, which does no harm. */
async function isFunded(chain: KilledChain, address: Address, atomic: bigint): Promise<boolean> {
  try {
    await Promise.race([chain.faucet(address, atomic), unanswered()])
    return true
  } catch {
    return false
  }
}

/** Gives up on a transaction that was lost with a killed node of the chain. */
async function unanswered(): Promise<never> {
  await delay(10_000, undefined, { ref: false })
  throw new Error('The chain did not mint in time.')
}

type KilledChain = Awaited<ReturnType<typeof openChain>>

/**
 * The chain, whose node can be killed: blocks stay, pending transactions are lost. It is stopped in an
 * orderly way, which saves its blocks, because it keeps them in memory and a real chain outlives a node.
 */
async function openChain(dataDir: string) {
  const state = { chain: await startChain({ dataDir }) }
  const { rpcUrl, usdc, keys } = state.chain
  const port = Number(new URL(rpcUrl).port)
  return {
    rpcUrl,
    usdc,
    keys,
    faucet: (to: Address, atomic: bigint) => state.chain.faucet(to, atomic),
    async kill(downMs: number) {
      await state.chain.stop()
      await delay(downMs)
      await portOf(rpcUrl)
      state.chain = await startChain({ dataDir, port })
    },
    stop: () => state.chain.stop(),
  }
}

type KilledSupplier = Awaited<ReturnType<typeof openSupplier>>

/** The supplier, which can be killed with SIGKILL; its ledger stays. */
async function openSupplier(options: Parameters<typeof launchSupplier>[0]) {
  const state = { supplier: await launchSupplier(options) }
  const { url, apiKey, webhook } = state.supplier
  return {
    url,
    apiKey,
    webhook,
    async kill(downMs: number) {
      const record = await readFile(join(options.dataDir, 'supplier', 'process.json'), 'utf8')
      process.kill(JSON.parse(record).process.pid, 'SIGKILL')
      await delay(downMs)
      await portOf(url)
      state.supplier = await launchSupplier(options)
      if (state.supplier.url !== url) throw new Error('The supplier lost its port to another.')
    },
    stop: () => state.supplier.stop(),
  }
}

type KilledDatabase = Awaited<ReturnType<typeof openDatabase>>

/** A PostgreSQL that syncs to disk, and that can be killed and restarted on its data folder. */
async function openDatabase(dataDir: string) {
  const state = { server: await startPostgres({ dataDir }) }
  const url = state.server.databaseUrl

  /** Retries, because backends of the killed server may take a moment to end. */
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
    /** Kills the postmaster, whose backends then end too. Returns when the database is up again. */
    async kill(downMs: number) {
      process.kill(state.server.pid, 'SIGKILL')
      await delay(downMs)
      await portOf(url)
      await startAgain()
    },
    stop: () => state.server.stop(),
  }
}

/** Waits until the port of a killed part is free: another program of the machine may have taken it. */
async function portOf(url: string): Promise<void> {
  const port = Number(new URL(url).port)
  const deadline = performance.now() + 300_000
  while ((await freePort(port)) !== port) {
    if (performance.now() > deadline) throw new Error(`Port ${port} does not become free again.`)
    await delay(200)
  }
}

async function tooLate(dataDir: string): Promise<never> {
  await delay(60_000, undefined, { ref: false })
  throw new Error(`The nodes did not become ready; see their logs in ${dataDir}.`)
}

const token = parseAbi(['function balanceOf(address account) view returns (uint256)'])

/** Tops up the float whenever half of it is gone, as an operator does. */
export async function keepFloat(
  { chain, refundWallet, fund }: Pick<Parts, 'chain' | 'refundWallet' | 'fund'>,
  until: AbortSignal,
): Promise<void> {
  const client = chainClient(chain.rpcUrl)
  const wallet = refundWallet as Address
  const look = {
    address: chain.usdc,
    abi: token,
    functionName: 'balanceOf',
    args: [wallet],
  } as const
  while (!until.aborted) {
    // If the chain's node is down, the next look asks it again.
    const held = await client.readContract(look).catch(() => floatAtomic)
    if (held * 2n < floatAtomic) await fund(wallet, floatAtomic - held)
    await delay(lookEveryMs, undefined, { signal: until }).catch(() => {})
  }
}
