import { createPublicClient, type Hex, type PublicClient, type Transport } from 'viem'
import type { Network } from '../../payments/networks.ts'
import { type BlockTime, blockAt } from './block-times.ts'
import { type PageSize, pageSize } from './log-pages.ts'
import { type DataFee, dataFeeOf } from './network-fees.ts'
import { newestShown } from './newest-shown.ts'
import { type NodeLoad, nodeLoad } from './node-load.ts'
import { type AccountNonces, accountNonces } from './nonces.ts'
import { recent } from './recent.ts'
import { rpcTransport } from './rpc-transport.ts'
import { type TransactionSigner, transactionSigner } from './signer.ts'

export interface NodeOptions {
  readonly network: Network
  readonly rpcUrl: string
  /** How often a transaction is looked for until it is in a block; milliseconds. */
  readonly pollMs: number
}

export interface ChainOptions extends NodeOptions {
  /** Pays gas and holds nothing else. */
  readonly gasKey: Hex
  /** The most that one transaction may cost in network fees, which rise far above the usual at times. */
  readonly maxSettlementWei: bigint
}

/** A node of a chain, for reading only. */
export interface ChainNode {
  readonly network: Network
  readonly reader: PublicClient<Transport, undefined>
  /** How many blocks of logs it answers for at once. */
  readonly pages: PageSize
  readonly load: NodeLoad
  /** The newest block; never an older one than this node has shown in the last minute. */
  readonly newestBlock: () => Promise<BlockTime>
}

/** A connection to one chain, and the account that sends transactions there. */
export interface Chain extends ChainNode {
  readonly pollMs: number
  readonly gasAccount: TransactionSigner
  readonly nonces: AccountNonces
  /** What a transaction has to offer for its gas; at most {@link recentMs} old. */
  readonly fees: () => Promise<Fees>
  readonly dataFee: DataFee
  readonly maxSettlementWei: bigint
  /** The newest block, at most {@link recentMs} old. */
  readonly recentHead: () => Promise<BlockTime>
  /** A block from {@link lookBackSeconds} ago, or up to ten minutes earlier. */
  readonly lookBackTo: () => Promise<number>
}

/** In wei per unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/**
 * How long concurrent payments share the newest block and the fees; milliseconds. Base makes a block every
 * two seconds. From one to the next its base fee rises by two percent at most, and the fee offered is a
 * fifth above it.
 */
const recentMs = 1_000

/**
 * How far back the use of an authorization is searched for. Somebody else may have submitted it before it
 * came to us; none that we accept is valid for longer than a sixth of this.
 */
const lookBackSeconds = 3_600
const lookBackKeptMs = 10 * 60_000

export function openNode({ network, rpcUrl, pollMs }: NodeOptions): ChainNode {
  const load = nodeLoad()
  const transport = rpcTransport(rpcUrl, load)
  const reader = createPublicClient({ transport, pollingInterval: pollMs, cacheTime: 0 })
  const newestBlock = newestShown(() => reader.getBlock())
  return { network, reader, pages: pageSize(), load, newestBlock }
}

export function openChain(options: ChainOptions): Chain {
  const node = openNode(options)
  const gasAccount = transactionSigner(options.gasKey)
  const { address } = gasAccount
  const { reader } = node
  return {
    ...node,
    pollMs: options.pollMs,
    gasAccount,
    nonces: accountNonces(() => reader.getTransactionCount({ address, blockTag: 'pending' })),
    dataFee: dataFeeOf(node),
    maxSettlementWei: options.maxSettlementWei,
    fees: recent(recentMs, () => reader.estimateFeesPerGas()),
    recentHead: recent(recentMs, node.newestBlock),
    lookBackTo: recent(lookBackKeptMs, async () => {
      const head = await node.newestBlock()
      return blockAt(node, Number(head.timestamp) - lookBackSeconds, head)
    }),
  }
}
