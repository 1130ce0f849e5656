import type { Address, Hex } from 'viem'
import { chainClient } from '../sandbox/chain/rpc.ts'
import { movesOf, type Wallets } from './collect.ts'
import type { Parts } from './parts.ts'

/** The gas that the store paid for; units of gas. */
export interface Gas {
  /** For payments and refunds that landed. */
  readonly moving: bigint
  /** For transactions that moved nothing: they reverted, or came too late. */
  readonly wasted: bigint
  readonly wastedTransactions: readonly string[]
}

/**
 * Adds up all transactions of the store's gas wallets, block by block. Blocks and transfers are read up to
 * the same block; otherwise a payment that lands in between would count as wasted.
 */
export async function gasOf(parts: Wallets & Pick<Parts, 'gasWallets'>): Promise<Gas> {
  const { chain, gasWallets } = parts
  const client = chainClient(chain.rpcUrl, 60_000)
  const head = await client.getBlockNumber({ cacheTime: 0 })
  const { payments, refunds } = await movesOf(parts, head)
  const moving = new Set([...payments, ...refunds].map(({ transaction }) => transaction))
  const gas = { moving: 0n, wasted: 0n, wastedTransactions: [] as string[] }
  for (let blockNumber = 0n; blockNumber <= head; blockNumber += 1n) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true })
    for (const { hash } of transactions.filter(({ from }) => gasWallets.includes(lower(from)))) {
      const { gasUsed } = await client.getTransactionReceipt({ hash: hash as Hex })
      const isMove = moving.has(hash as Hex)
      gas[isMove ? 'moving' : 'wasted'] += gasUsed
      if (!isMove) gas.wastedTransactions.push(hash as Hex)
    }
  }
  return gas
}

function lower(address: Address): string {
  return address.toLowerCase()
}
