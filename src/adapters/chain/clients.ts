import { signRecoverable } from 'tiny-secp256k1'
import {
  BaseError,
  bytesToHex,
  createPublicClient,
  formatTransactionReceipt,
  type Hex,
  HttpRequestError,
  hexToBytes,
  keccak256,
  numberToHex,
  type PublicClient,
  parseAbi,
  RpcRequestError,
  serializeTransaction,
  TimeoutError,
  type TransactionReceipt,
  type TransactionSerializableEIP1559,
  type Transport,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Network } from '../../payments/networks.ts'
import { isRevert, isTooOften, type NodeLoad, nodeLoad, rpcTransport } from './rpc.ts'

interface NodeOptions {
  readonly network: Network
  readonly rpcUrl: string
  readonly pollMs: number
}

export interface ChainOptions extends NodeOptions {
  readonly gasKey: Hex
  readonly maxSettlementWei: bigint
}

export interface ChainNode {
  readonly network: Network
  readonly reader: PublicClient<Transport, undefined>
  readonly load: NodeLoad
  readonly newestBlock: () => Promise<BlockTime>
}

export interface Chain extends ChainNode {
  readonly pollMs: number
  readonly gasAccount: ReturnType<typeof transactionSigner>
  readonly ethPrice: EthPrice
  readonly nonces: ReturnType<typeof accountNonces>
  readonly fees: () => Promise<Fees>
  readonly dataFee: DataFee
  readonly maxSettlementWei: bigint
  readonly recentHead: () => Promise<BlockTime>
  /** A block from {@link lookBackSeconds} ago, or up to ten minutes earlier. */
  readonly lookBackTo: () => Promise<number>
}

export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A base fee rises by 2 % a block, and the offer is a fifth above. */
const recentMs = 1_000

/** How far back the use of an authorization is searched for; none that we accept is valid for a sixth of this. */
const lookBackSeconds = 3_600
const lookBackMaxAgeMs = 10 * 60_000

export function openNode({ network, rpcUrl, pollMs }: NodeOptions): ChainNode {
  const load = nodeLoad()
  const transport = rpcTransport(rpcUrl, load)
  const reader = createPublicClient({ transport, pollingInterval: pollMs, cacheTime: 0 })
  const newestBlock = newestShown(() => reader.getBlock())
  return { network, reader, load, newestBlock }
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
    ethPrice: ethPriceOf(node),
    nonces: accountNonces(() => reader.getTransactionCount({ address, blockTag: 'pending' })),
    dataFee: dataFeeOf(node),
    maxSettlementWei: options.maxSettlementWei,
    fees: recent(recentMs, () => reader.estimateFeesPerGas()),
    recentHead: recent(recentMs, node.newestBlock),
    lookBackTo: recent(lookBackMaxAgeMs, async () => {
      const head = await node.newestBlock()
      return blockAt(node, Number(head.timestamp) - lookBackSeconds, head)
    }),
  }
}

export function transactionSigner(privateKey: Hex) {
  const key = hexToBytes(privateKey)
  return {
    address: privateKeyToAddress(privateKey),
    sign(transaction: TransactionSerializableEIP1559): Hex {
      const hash = keccak256(serializeTransaction(transaction), 'bytes')
      const { signature, recoveryId } = signRecoverable(hash, key)
      return serializeTransaction(transaction, {
        r: bytesToHex(signature.subarray(0, 32)),
        s: bytesToHex(signature.subarray(32)),
        yParity: recoveryId,
      })
    },
  }
}

/** A chain that a reorganisation made shorter has grown again by then. */
const newestMaxAgeMs = 60_000

/** Several nodes may answer behind one address, and a call at a block fails at one that lags. */
export function newestShown(readHead: () => Promise<BlockTime>): () => Promise<BlockTime> {
  let newest: { readonly block: BlockTime; readonly at: number } | undefined
  return async () => {
    const { number, timestamp } = await readHead()
    const now = performance.now()
    if (newest && number < newest.block.number && now - newest.at < newestMaxAgeMs)
      return newest.block
    newest = { block: { number, timestamp }, at: now }
    return newest.block
  }
}

/** Shares one answer among all who ask within `maxMs` of the question. A failure is not kept. */
export function recent<T>(maxMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly asked: Promise<T>; readonly at: number } | undefined
  return () => {
    const now = performance.now()
    if (last && now - last.at < maxMs) return last.asked
    const asked = ask()
    const own = { asked, at: now }
    last = own
    asked.catch(() => {
      if (last === own) last = undefined
    })
    return asked
  }
}

/** A nonce is reserved no longer than this, so that no gap can last for ever. */
const maxReservedMs = 30_000
/** How long the node's count may lag behind a nonce that another process has taken. */
const maxYieldedMs = 5_000

/** The node's count alone would give two settlements one nonce; a counter is wrong once a transaction is dropped. */
export function accountNonces(count: () => Promise<number>) {
  const reserved = new Map<number, { readonly until: number; readonly isOurs: boolean }>()
  const keep = (nonce: number, isOurs: boolean) => {
    const ms = isOurs ? maxReservedMs : maxYieldedMs
    reserved.set(nonce, { until: performance.now() + ms, isOurs })
  }
  return {
    async reserve(): Promise<number> {
      const nextNonce = await count()
      const now = performance.now()
      for (const [nonce, { until }] of reserved) if (until < now) reserved.delete(nonce)
      let nonce = nextNonce
      while (reserved.has(nonce)) nonce += 1
      keep(nonce, true)
      return nonce
    },
    giveBack: (nonce: number) => void reserved.delete(nonce),
    yieldTo: (nonce: number) => keep(nonce, false),
    isOurs: (nonce: number) => reserved.get(nonce)?.isOurs ?? false,
  }
}

/** The GasPriceOracle of OP Stack chains, which gives the L1 data fee of a transaction. */
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
const oracleAbi = parseAbi([
  'function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)',
])

/** L1 makes a block every twelve seconds, and its prices move by blocks. */
const dataFeeMaxAgeMs = 10_000
/** Sizes are rounded up to a multiple of this many bytes, so that similar payments share one call. */
const sizeStep = 512
/** The L1 data fee of a transaction of this size, in wei; 0 on a chain without the oracle. */
type DataFee = (bytes: number) => Promise<bigint>

function dataFeeOf({ reader }: Pick<ChainNode, 'reader'>): DataFee {
  const cache = new Map<number, () => Promise<bigint>>()
  const readUpperBound = async (size: number) => {
    try {
      return await reader.readContract({
        address: gasPriceOracle,
        abi: oracleAbi,
        functionName: 'getL1FeeUpperBound',
        args: [BigInt(size)],
      })
    } catch (error) {
      if (isRevert(error)) return 0n
      throw error
    }
  }
  return (bytes) => {
    const size = Math.ceil(bytes / sizeStep) * sizeStep
    const readFee = cache.get(size) ?? recent(dataFeeMaxAgeMs, () => readUpperBound(size))
    cache.set(size, readFee)
    return readFee()
  }
}

const feedAbi = parseAbi([
  'function latestRoundData() view returns (uint80 round, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredIn)',
])

const priceMaxAgeMs = 5 * 60_000
/** The feed is written at least every 20 minutes. */
const staleFeedSeconds = 3_600

interface EthPrice {
  /** Reads it again if it is time to. A feed that does not answer leaves it unknown. */
  refresh(): Promise<void>
  /** US dollars for one ETH, as last read. */
  last(): number | undefined
}

/** By Chainlink's feed on this network, in 8 decimals. It is for the books alone: nothing is decided by it. */
export function ethPriceOf({ network, reader }: Pick<ChainNode, 'network' | 'reader'>): EthPrice {
  const { ethUsdFeed } = network
  let last: number | undefined
  const read = async () => {
    const question = { abi: feedAbi, functionName: 'latestRoundData' } as const
    const [[, answer, , updatedAt], { timestamp }] = await Promise.all([
      reader.readContract({ ...question, address: ethUsdFeed as Hex }),
      reader.getBlock(),
    ])
    const isUsable = answer > 0n && timestamp - updatedAt < staleFeedSeconds
    last = isUsable ? Number(answer) / 1e8 : undefined
  }
  const refresh = recent(priceMaxAgeMs, () =>
    read().catch(() => {
      last = undefined
    }),
  )
  return { refresh: ethUsdFeed === undefined ? async () => undefined : refresh, last: () => last }
}

export interface Blocks {
  readonly from: number
  readonly to: number
}

/** Most providers answer for this many at once; the others refuse, and are asked for less. */
const maxBlocks = 10_000

/** The HTTP statuses by which providers refuse a range or a number of logs. */
const refusingStatuses = [400, 413, 422]

export interface Paging {
  readonly newestFirst?: boolean
  readonly signal?: AbortSignal
}

/** A piece that the node refuses is halved. @throws its refusal of a single block */
export async function* inPieces<T extends object>(
  { from, to }: Blocks,
  read: (piece: Blocks) => Promise<T>,
  { newestFirst = false, signal }: Paging = {},
): AsyncGenerator<T> {
  let rest = { from, to }
  let size = maxBlocks
  while (rest.from <= rest.to) {
    signal?.throwIfAborted()
    const piece = newestFirst
      ? { from: Math.max(rest.from, rest.to - size + 1), to: rest.to }
      : { from: rest.from, to: Math.min(rest.to, rest.from + size - 1) }
    const answer = await read(piece).catch((error: unknown) => {
      if (piece.from === piece.to || !isRefusal(error)) throw error
      return undefined
    })
    if (answer === undefined) {
      size = Math.floor((piece.to - piece.from + 1) / 2)
      continue
    }
    yield answer
    rest = newestFirst
      ? { from: rest.from, to: piece.from - 1 }
      : { from: piece.to + 1, to: rest.to }
  }
}

/** Any refusal counts, and a timeout, but no rate limit: smaller pieces would only make more calls. */
export function isRefusal(error: unknown): boolean {
  const refuses = (cause: unknown) =>
    cause instanceof RpcRequestError ||
    cause instanceof TimeoutError ||
    (cause instanceof HttpRequestError && refusingStatuses.includes(cause.status ?? 0))
  return error instanceof BaseError && Boolean(error.walk(refuses)) && !isTooOften(error)
}

export interface BlockTime {
  readonly number: bigint
  readonly timestamp: bigint
}

interface At {
  readonly number: number
  readonly time: number
}

const firstStep = 512

/** The first block at or after this time; the one after the newest if there is none yet, 0 before the chain. */
export async function blockAt(node: ChainNode, time: number, head: BlockTime): Promise<number> {
  let after = at(head)
  if (after.time < time) return after.number + 1
  const before = await someBefore(node, time, after)
  if (before === undefined) return 0
  let low = before
  for (let looks = 0; after.number - low.number > 1; looks += 1) {
    const block = await readBlock(node, between(low, after, looks % 2 === 0 ? time : undefined))
    if (block.time < time) low = block
    else after = block
  }
  return after.number
}

async function someBefore(node: ChainNode, time: number, head: At): Promise<At | undefined> {
  for (let step = firstStep; ; step *= 4) {
    const block = await readBlock(node, Math.max(0, head.number - step))
    if (block.time < time) return block
    if (block.number === 0) return undefined
  }
}

function between(low: At, high: At, time: number | undefined): number {
  const blocks = high.number - low.number
  const share = time === undefined ? 0.5 : (time - low.time) / Math.max(1, high.time - low.time)
  return low.number + Math.min(blocks - 1, Math.max(1, Math.round(blocks * share)))
}

/** @throws when the node returns another block, because its answers are then inconsistent */
async function readBlock({ reader }: ChainNode, number: number): Promise<At> {
  const block = at(await reader.getBlock({ blockNumber: BigInt(number) }))
  if (block.number !== number) throw new Error(`Asked for block ${number}, got ${block.number}.`)
  return block
}

function at({ number, timestamp }: BlockTime): At {
  return { number: Number(number), time: Number(timestamp) }
}

/** A receipt alone proves no block: nodes with preconfirmations return it before, and a backend that of a dropped one. */
export async function receiptOf(
  node: ChainNode,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  const receipt = await node.reader.request({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  })
  // The receipt of another transaction proves nothing about this one.
  if (receipt?.transactionHash.toLowerCase() !== hash.toLowerCase()) return undefined
  const formatted = formatTransactionReceipt(receipt)
  return (await isInBlock(node, formatted)) ? formatted : undefined
}

async function isInBlock(
  { reader }: ChainNode,
  { blockHash, blockNumber }: TransactionReceipt,
): Promise<boolean> {
  const head = await reader.getBlock()
  if (head.number <= blockNumber) return head.hash === blockHash
  const block = await reader.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(blockNumber), false],
  })
  return block?.hash === blockHash
}

export function headAgeOf({ timestamp }: Pick<BlockTime, 'timestamp'>, now: Date): number {
  return now.getTime() / 1_000 - Number(timestamp)
}
