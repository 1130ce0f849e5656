import {
  concatHex,
  domainSeparator,
  encodeEventTopics,
  formatLog,
  formatTransactionReceipt,
  type Hex,
  hashStruct,
  keccak256,
  type Log,
  numberToHex,
  pad,
  parseAbi,
  type TransactionReceipt,
} from 'viem'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { Network } from '../../payments/networks.ts'
import type { ChainNode } from './clients.ts'
import type { SignedTransfer } from './transfer.ts'

/** The parts of Circle's FiatTokenV2_2 that the store uses. */
export const tokenAbi = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function isBlacklisted(address account) view returns (bool)',
  'function paused() view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** The EIP-712 message of an EIP-3009 transfer. */
export const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
export const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
export const [cancelledTopic] = encodeEventTopics({
  abi: tokenAbi,
  eventName: 'AuthorizationCanceled',
})

export type Topics = readonly (Hex | readonly Hex[] | null)[]

/** A range of blocks, both ends included. The answering node resolves `safe`. */
export interface LogRange {
  readonly from: number
  readonly to: number | 'safe'
}

export async function tokenLogsIn(
  { network, reader }: ChainNode,
  { from, to }: LogRange,
  topics: Topics,
): Promise<Log[]> {
  const filter = {
    address: network.usdc as Hex,
    topics: topics as (Hex | Hex[] | null)[],
    fromBlock: numberToHex(from),
    toBlock: to === 'safe' ? to : numberToHex(to),
  }
  const logs = await reader.request({ method: 'eth_getLogs', params: [filter] })
  return logs.map((log) => formatLog(log))
}

export function topicOf(wallet: string): Hex {
  return pad(wallet.toLowerCase() as Hex, { size: 32 })
}

const separators = new Map<Network, Hex>()

/** The EIP-712 domain separator of a network's USDC, cached because it is half of the work of hashing a payment. */
export function separatorOf(network: Network): Hex {
  const known = separators.get(network)
  if (known !== undefined) return known
  const { chainId, usdc: address, usdcDomain } = network
  const domain = { ...usdcDomain, chainId, verifyingContract: address as Hex }
  const separator = domainSeparator({ domain })
  separators.set(network, separator)
  return separator
}

/** What a payer signs (EIP-712) to let a transfer be made (EIP-3009). */
export function authorizationHash(
  network: Network,
  transfer: Omit<SignedTransfer, 'signature'>,
): Hex {
  const { from, to, amount: value, validAfter, validBefore, nonce } = transfer
  const data = {
    from: from as Hex,
    to: to as Hex,
    value,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce as Hex,
  }
  const struct = hashStruct({
    data,
    primaryType: 'TransferWithAuthorization',
    types: transferTypes,
  })
  return keccak256(concatHex(['0x1901', separatorOf(network), struct]))
}

/**
 * The receipt of a transaction; undefined while it is in no block of this node's chain. A receipt alone does not
 * prove that it is in one: nodes with preconfirmations (Flashblocks) return one before the block exists, and a
 * backend may return one of a block that was dropped. viem's action makes an error of every “not yet”.
 */
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

/** Whether its block is on the chain: not above the newest one, and with the same hash at its height. */
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

export async function floatOf(
  { network, reader }: Pick<ChainNode, 'network' | 'reader'>,
  refundWallet: string,
): Promise<Usdc> {
  const float = await reader.readContract({
    address: network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [refundWallet as Hex],
  })
  return usdc(float)
}
