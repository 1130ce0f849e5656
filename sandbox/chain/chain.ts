import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address, Hex } from 'viem'
import { startClock } from './clock.ts'
import { deployContracts, fundWallets, isOurs, mint, USDC } from './genesis.ts'
import { type ChainKeys, loadKeys } from './keys.ts'
import { startChainNode } from './node.ts'
import { CHAIN_ID, chainClient } from './rpc.ts'
import { saveLastState, saveState } from './state.ts'

export type ChainOptions = {
  /** The store's data folder; the chain is stored in `chain` below it. */
  dataDir: string
  onProgress?: (message: string) => void
  /** Called when the node stops answering while the store runs. */
  onProblem?: (error: Error) => void
}

export type Chain = {
  rpcUrl: string
  chainId: typeof CHAIN_ID
  usdc: Address
  keys: ChainKeys
  /** Mints USDC to a wallet, 1,000 by default, and returns the hash of the mined transaction. */
  faucet(to: Address, amountAtomic?: bigint): Promise<Hex>
  /** Stops the node, which saves the chain; a second call does nothing. */
  stop(): Promise<void>
}

const faucetAmount = 1_000_000_000n
/** The timeout for dumping the node's state, in milliseconds; after a long run it has more than 100 MB. */
const stateMs = 60_000

/**
 * Starts the sandbox's own chain: a real EVM node on 127.0.0.1 with the chain id of Base Sepolia and Circle's USDC at
 * its address there. Blocks, receipts and logs survive a restart. The node ends with this process at the latest, and
 * saves its chain then. While there are transactions, the chain is also saved every 10 seconds; killing the node
 * itself loses at most that much.
 */
export async function startChain(options: ChainOptions): Promise<Chain> {
  await mkdir(join(options.dataDir, 'chain'), { recursive: true })
  const chainDir = await realpath(join(options.dataDir, 'chain'))
  const keys = await loadKeys(join(chainDir, 'keys.json'))
  const node = await startChainNode(chainDir)
  const client = chainClient(node.rpcUrl, stateMs)
  try {
    if (!(await isOurs(client, keys))) {
      options.onProgress?.('Putting USDC on a new sandbox chain')
      await deployContracts(client, keys)
    }
    await fundWallets(client, keys)
    const clock = await startClock({
      client,
      save: () => saveState(client, chainDir),
      onProblem: options.onProblem ?? (() => {}),
    })
    // Mints one at a time: two at once would get the same account nonce.
    let last: Promise<unknown> = Promise.resolve()
    return {
      ...{ rpcUrl: node.rpcUrl, chainId: CHAIN_ID, usdc: USDC, keys },
      faucet(to, amountAtomic = faucetAmount) {
        const minted = last.then(() => mint(client, keys, to, amountAtomic))
        // The caller gets the error; the next call does not depend on it.
        last = minted.catch(() => undefined)
        return minted
      },
      async stop() {
        await clock.stop()
        // A node that has to be killed, because it does not end when it is asked to, saves nothing by itself.
        if (!node.hasEnded()) await saveLastState(client, chainDir).catch(() => undefined)
        await node.stop()
      },
    }
  } catch (error) {
    await node.stop()
    throw error
  }
}
