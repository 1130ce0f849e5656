import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
  privateKeyToAddress,
} from 'viem/accounts'
import { type Chain, startChain } from '../sandbox/chain/chain.ts'
import { launchBtcpay, launchSupplier } from '../sandbox/launch.ts'
import { freePort } from '../sandbox/port.ts'
import { startPostgres } from '../sandbox/postgres/postgres.ts'
import { readMethods } from '../src/payments/btcpay-methods.ts'
import { fundedGasKey } from '../test/harness/gas.ts'
import { startProxy } from '../test/harness/proxy.ts'
import { type KeptNode, keepNode } from './node.ts'

/** How long the supplier takes for each of the four steps of a purchase. */
const stepMs = 20

/** The only coin that the store takes. */
export const coin = 'BTC'

/** Two processes of the store on one database. */
const nodeCount = 2

/** What the caps of a day let go back, 5,000 USDC: the float of a run is never filled again. */
const floatAtomic = 5_000_000_000n

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
  // The daily cap is the default of a store. A run has the orders of a day in less than an hour, so the hourly
  // cap is as high. Half of the purchases fail by plan, at 0.66 USDC on average: the refunds of 10,500 come to
  // 3,300 USDC, and those of 12,000, the most of a run, to 3,800.
  REFUND_HOURLY_CAP_USDC: '5000',
  REFUND_DAILY_CAP_USDC: '5000',
} as const

/** More than a buyer can spend; atomic USDC. */
const enoughUsdc = 1_000_000_000_000n

/** A part that is killed, and then started again on the same port. */
interface Killed {
  /** Returns when it is up again, after at least this many milliseconds. */
  kill(downMs: number): Promise<void>
}

/** All parts of a run. */
export interface Parts {
  readonly dataDir: string
  readonly chain: Killed & Pick<Chain, 'rpcUrl' | 'usdc' | 'keys'>
  readonly supplier: Killed & { readonly url: string; readonly apiKey: string }
  readonly btcpay: Killed & { readonly url: string }
  readonly refundWallet: string
  readonly database: Killed & { readonly url: string }
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
 * contract, the supplier, BTCPay's stand-in, and the nodes of the store, each in a process of its own.
 *
 * @param stops receives the function that stops each part, the newest first, even if a later part fails to start
 */
export async function startParts(
  dataDir: string,
  stops: (() => Promise<unknown>)[],
): Promise<Parts> {
  const postgres = await killable(() => startPostgres({ dataDir }), 'databaseUrl', killPid)
  stops.unshift(postgres.stop)
  // Stopped in an orderly way, which saves its blocks: it keeps them in memory, and a real chain outlives a node.
  // Pending transactions are lost.
  const node = await killable(
    () => startChain({ dataDir }),
    'rpcUrl',
    (chain) => chain.stop(),
  )
  stops.unshift(node.stop)
  const ports: number[] = []
  while (ports.length < nodeCount) ports.push(await freePort())
  const { supplier, btcpay, processor } = await startServices(dataDir, ports, stops)
  const proxies = {
    chain: await startProxy(node.first.rpcUrl),
    supplier: await startProxy(new URL('/', supplier.first.url).href),
  }
  stops.unshift(proxies.chain.close, proxies.supplier.close)
  // Not the refund wallet of the sandbox, which has more USDC than any operator.
  const refundKey = generatePrivateKey()
  const refundWallet = privateKeyToAddress(refundKey)
  await node.first.faucet(refundWallet, floatAtomic)
  const { rpcUrl, usdc, keys } = node.first
  const { url, apiKey, webhook } = supplier.first
  const { databaseUrl } = postgres.first
  const nodes: KeptNode[] = []
  for (const [at, port] of ports.entries()) {
    const kept = keepNode({
      ...{ port, url: `http://127.0.0.1:${port}`, env: storeEnvironment },
      ...{ rpcUrl: proxies.chain.url, payTo: keys.payTo, refundKey, databaseUrl },
      gasKey: await fundedGasKey(rpcUrl),
      ...{ supplierUrl: proxies.supplier.url, supplierKey: apiKey, webhook, processor },
      logFile: join(dataDir, `node-${at}.log`),
    })
    stops.unshift(kept.stop)
    nodes.push(kept)
  }
  await Promise.race([Promise.all(nodes.map(({ ready }) => ready)), tooLate(dataDir)])
  const fund = async (address: Address, atomic: bigint) => {
    while (!(await isFunded(node.now(), address, atomic))) await delay(200)
  }
  return {
    dataDir,
    chain: { rpcUrl, usdc, keys, kill: node.kill },
    supplier: { url, apiKey, kill: supplier.kill },
    btcpay: { url: processor.url, kill: btcpay.kill },
    refundWallet: refundWallet.toLowerCase(),
    database: { url: databaseUrl, kill: postgres.kill },
    nodes,
    proxies,
    async newAccount() {
      const account = privateKeyToAccount(generatePrivateKey())
      await fund(account.address, enoughUsdc)
      return account
    },
    fund,
  }
}

/** Starts the supplier and BTCPay Server, each of which tells another node of the store what happens. */
async function startServices(
  dataDir: string,
  [first, last]: readonly number[],
  stops: (() => Promise<unknown>)[],
) {
  const webhookUrl = `http://127.0.0.1:${first}/webhooks/supplier`
  const options = { dataDir, offers: 100, lateSeconds, stepMs, webhookUrl }
  const supplier = await killable(() => launchSupplier(options), 'url', killPid)
  stops.unshift(supplier.stop)
  const told = { dataDir, webhookUrl: `http://127.0.0.1:${last}/webhooks/btcpay` }
  const btcpay = await killable(() => launchBtcpay(told), 'url', killPid)
  stops.unshift(btcpay.stop)
  const { pid: _, stop: __, ...access } = btcpay.first
  const processor = { ...access, methods: readMethods(coin), isTestnet: true }
  return { supplier, btcpay, processor }
}

/** Starts a part that `end` kills, and that starts again with what it has kept. */
async function killable<
  Name extends string,
  T extends Readonly<Record<Name, string>> & { stop(): Promise<unknown> },
>(start: () => Promise<T>, name: Name, end: (part: T) => unknown) {
  const first = await start()
  const state = { part: first }
  return {
    first,
    now: () => state.part,
    async kill(downMs: number) {
      await end(state.part)
      await delay(downMs)
      await untilFree(Number(new URL(first[name]).port))
      state.part = await start()
      if (state.part[name] !== first[name]) throw new Error(`${first[name]} was lost to another.`)
    },
    stop: () => state.part.stop(),
  }
}

const killPid = ({ pid }: { readonly pid: number }) => process.kill(pid, 'SIGKILL')

/** Waits until the port of a killed part is free: another program of the machine may have taken it. */
async function untilFree(port: number): Promise<void> {
  const deadline = performance.now() + 300_000
  while ((await freePort(port)) !== port) {
    if (performance.now() > deadline) throw new Error(`Port ${port} does not become free again.`)
    await delay(200)
  }
}

/** If the answer of the chain is lost, the wallet is funded twice, which does no harm. */
async function isFunded(chain: Chain, address: Address, atomic: bigint): Promise<boolean> {
  // A transaction that was lost with a killed node of the chain is given up.
  const tooLong = delay(10_000, false, { ref: false })
  const funded = chain.faucet(address, atomic).then(
    () => true,
    () => false,
  )
  return Promise.race([funded, tooLong])
}

async function tooLate(dataDir: string): Promise<never> {
  await delay(60_000, undefined, { ref: false })
  throw new Error(`The nodes did not become ready; see their logs in ${dataDir}.`)
}
