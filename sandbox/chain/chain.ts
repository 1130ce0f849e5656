import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address, Hex } from 'viem'
import { isAlive } from '../process.ts'
import { CHAIN_ID } from './anvil.ts'
import { startClock } from './clock.ts'
import { deployContracts, fundWallets, isOurs, mint, USDC } from './genesis.ts'
import type { ChainKeys } from './keys.ts'
import { keyFileIn, loadKeys } from './keys.ts'
import type { ChainNode } from './node.ts'
import { adoptOrStart, stopNode } from './node.ts'
import type { ChainClient } from './rpc.ts'
import { chainClient } from './rpc.ts'
import { saveLastState, saveState } from './state.ts'

export type ChainOptions = {
  /** The store's data folder; the chain is stored in `chain` below it. */
  dataDir: string
  /** Requires this port. Absent: a free one is chosen and kept. */
  port?: number
  /** Called with a short sentence about each step that takes time. */
  onProgress?: (message: string) => void
  /** Called when the node stops answering while the store runs. */
  onProblem?: (error: Error) => void
}

export type Chain = {
  rpcUrl: string
  chainId: typeof CHAIN_ID
  usdc: Address
  keys: ChainKeys
  /** Whether an earlier store left the node running. */
  adopted: boolean
  /** Mints USDC to a wallet, 1,000 by default, and returns the hash of the mined transaction. */
  faucet(to: Address, amountAtomic?: bigint): Promise<Hex>
  /** Saves the chain and stops the node, even an adopted one; a second call does nothing. */
  stop(): Promise<void>
}

/** 1,000 USDC in atomic units. */
const FAUCET_AMOUNT = 1_000_000_000n
/** The timeout for dumping the node's state, in milliseconds; after a long run it has more than 100 MB. */
const STATE_MS = 60_000

/**
 * Starts the sandbox's own chain: a real EVM node on 127.0.0.1 with the chain id of Base Sepolia and Circle's USDC at
 * its address there. Blocks, receipts and logs survive a restart. Like the database, the node runs in its own process
 * group, and a node that a killed store left running is adopted. The state is saved at every stop and, while there are
 * transactions, every 10 seconds; killing the node itself loses at most that much.
 */
export async function startChain(options: ChainOptions): Promise<Chain> {
  await mkdir(join(options.dataDir, 'chain'), { recursive: true })
  const chainDir = await realpath(join(options.dataDir, 'chain'))
  const keys = await loadKeys(keyFileIn(chainDir))
  const node = await adoptOrStart({ chainDir, keys, port: options.port })
  const client = chainClient(node.rpcUrl, STATE_MS)
  const save = () => saveState(client, chainDir)
  try {
    await furnish(client, keys, options.onProgress)
    await save()
    const clock = await startClock({ client, save, onProblem: options.onProblem ?? (() => {}) })
    const stop = async () => {
      await clock.stop()
      await saveAndStop(node, () => saveLastState(client, chainDir))
    }
    return { ...describe(node, keys), faucet: makeFaucet(client, keys), stop }
  } catch (error) {
    await stopNode(node.process)
    throw error
  }
}

/** Makes sure that the contracts are deployed and the wallets funded. */
async function furnish(
  client: ChainClient,
  keys: ChainKeys,
  onProgress: ChainOptions['onProgress'],
): Promise<void> {
  if (!(await isOurs(client, keys))) {
    onProgress?.('Putting USDC on a new sandbox chain')
    await deployContracts(client, keys)
  }
  await fundWallets(client, keys)
}

function describe(node: ChainNode, keys: ChainKeys) {
  return {
    rpcUrl: node.rpcUrl,
    chainId: CHAIN_ID,
    usdc: USDC,
    keys,
    adopted: node.adopted,
  } as const
}

/** Stops the node even if saving its state fails; that error is thrown afterwards. */
async function saveAndStop(node: ChainNode, save: () => Promise<unknown>): Promise<void> {
  if (!isAlive(node.process)) return
  try {
    await save()
  } finally {
    await stopNode(node.process)
  }
}

/** Mints one at a time: two at once would get the same account nonce. */
function makeFaucet(client: ChainClient, keys: ChainKeys): Chain['faucet'] {
  let last: Promise<unknown> = Promise.resolve()
  return (to, amountAtomic = FAUCET_AMOUNT) => {
    const minted = last.then(() => mint(client, keys, to, amountAtomic))
    last = minted.then(
      () => undefined,
      // The caller gets the error; the next call does not depend on it.
      () => undefined,
    )
    return minted
  }
}
