import { type Hex, parseEventLogs, type TransactionReceipt } from 'viem'
import type { Standing } from '../../payments/ports.ts'
import { type Expected, provesTransfer, type TokenLog } from '../../payments/proof.ts'
import type { ChainNode } from './clients.ts'
import { isRevert } from './faults.ts'
import { receiptOf } from './receipts.ts'
import { tokenAbi } from './token.ts'
import { type SignedTransfer, transferCall } from './transfer.ts'

/** Where an expected transfer is proven to have happened. */
export interface Found {
  readonly transaction: Hex
  readonly block: number
}

/** What the chain says of an authorization. Whatever it does not say for certain is `open`. */
export type Verdict =
  | {
      readonly verdict: 'transferred'
      readonly found: Found
      /** In a block that cannot be dropped any more. */
      readonly isSafe: boolean
    }
  | Dead
  | { readonly verdict: 'open' }

/** Proven: it was cancelled, spent on something else, or ran out unused. It will never pay. */
export interface Dead {
  readonly verdict: 'dead'
  readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired'
}

export interface Authorization extends Expected {
  /** Chain time, in seconds. */
  readonly validBefore: number
  readonly sinceBlock: number
}

/** The transfer as this transaction made it, or undefined when it did not, or is not in a block. */
export async function proveByTransaction(
  node: ChainNode,
  transaction: Hex,
  expected: Expected,
): Promise<Found | undefined> {
  const receipt = await receiptOf(node, transaction)
  return receipt && proveByReceipt(node, { hash: transaction, receipt }, expected)
}

/** The same where this node has just shown the transaction's receipt. */
export function proveByReceipt(
  node: ChainNode,
  { hash, receipt }: { readonly hash: Hex; readonly receipt: TransactionReceipt },
  expected: Expected,
): Found | undefined {
  return proves(node, receipt, expected)
    ? { transaction: hash, block: Number(receipt.blockNumber) }
    : undefined
}

/**
 * Looks the authorization up by its nonce, because anyone may have submitted it in any
 * transaction. The clock of this machine takes no part: only a block that cannot be dropped any
 * more, and whose own time is past `validBefore`, proves that nothing will come.
 */
export async function judge(node: ChainNode, authorization: Authorization): Promise<Verdict> {
  const safe = await node.reader.getBlock({ blockTag: 'safe' })
  const [use] = await nonceLogs(node, authorization)
  if (use) {
    const found = await proveByTransaction(node, use.transactionHash, authorization)
    if (found) {
      const isSafe = found.block <= safe.number && (await isUsedInSafe(node, found, authorization))
      return { verdict: 'transferred', found, isSafe }
    }
    // The log may be of a block that was dropped since, served by another node behind the same
    // address. What the token says at the safe block cannot change any more.
    if (!(await isUsed(node, authorization, safe.number))) return { verdict: 'open' }
    const cause = use.eventName === 'AuthorizationCanceled' ? 'cancelled' : 'spent_elsewhere'
    return { verdict: 'dead', cause }
  }
  if (safe.timestamp < BigInt(authorization.validBefore)) return { verdict: 'open' }
  const used = await isUsed(node, authorization, safe.number)
  // Used without a log that says so means that the node's answers do not fit together: not a proof.
  return used ? { verdict: 'open' } : { verdict: 'dead', cause: 'expired' }
}

/**
 * Whether this transaction still proves the transfer, and for good. It may have moved to another
 * block since: what counts is where it is now.
 *
 * The newest block is asked for first. A node that did not have it yet, and learns of it between two
 * answers, must not look like one that has lost the transaction.
 */
export async function standingAt(
  node: ChainNode,
  { transaction, block }: Found,
  expected: Authorization,
): Promise<Standing> {
  const [head, safe] = await Promise.all([
    node.reader.getBlockNumber(),
    node.reader.getBlock({ blockTag: 'safe' }),
  ])
  const receipt = await receiptOf(node, transaction)
  // In no block of a node that is not there yet: it lags, or a shorter chain has replaced the old one.
  if (!receipt) return head < BigInt(block) ? 'not_yet' : 'gone'
  if (!proves(node, receipt, expected)) return 'gone'
  if (receipt.blockNumber > safe.number) return 'not_yet'
  return (await isUsedInSafe(node, { transaction }, expected)) ? 'final' : 'not_yet'
}

/**
 * Whether somebody used the nonce for something else than this transfer. Undefined when the node
 * says that it is used and does not show where: its logs may be behind its state.
 */
export async function isSpentOtherwise(
  node: ChainNode,
  authorization: Authorization,
): Promise<boolean | undefined> {
  const safe = await node.reader.getBlock({ blockTag: 'safe' })
  const [use] = await nonceLogs(node, authorization)
  if (use) return !(await proveByTransaction(node, use.transactionHash, authorization))
  // It was used before the blocks that are searched, unless it was used just now.
  return (await isUsed(node, authorization, safe.number)) || undefined
}

/** Whether the token itself refuses this transfer just now. Throws when the node cannot say. */
export async function wouldRevert(
  { network, reader }: ChainNode,
  transfer: SignedTransfer,
): Promise<boolean> {
  try {
    await reader.simulateContract(transferCall(network, transfer))
    return false
  } catch (error) {
    if (isRevert(error)) return true
    throw error
  }
}

/**
 * Whether the token takes no transfer to this wallet from anybody just now, because it is paused or
 * has blacklisted the wallet. A payer can do nothing about either, least of all by signing again.
 */
export async function isClosedTo({ network, reader }: ChainNode, wallet: string): Promise<boolean> {
  const token = { address: network.usdc as Hex, abi: tokenAbi } as const
  const [isPaused, isBlocked] = await Promise.all([
    reader.readContract({ ...token, functionName: 'paused' }),
    reader.readContract({ ...token, functionName: 'isBlacklisted', args: [wallet as Hex] }),
  ])
  return isPaused || isBlocked
}

function proves(node: ChainNode, receipt: TransactionReceipt, expected: Expected): boolean {
  return receipt.status === 'success' && provesTransfer(tokenLogs(node, receipt), expected)
}

function tokenLogs(node: ChainNode, receipt: TransactionReceipt): TokenLog[] {
  const token = node.network.usdc.toLowerCase()
  const own = receipt.logs.filter((log) => log.address.toLowerCase() === token)
  return parseEventLogs({ abi: tokenAbi, logs: own }).map(({ eventName, args, logIndex }) => {
    return { event: eventName, ...args, index: logIndex } as TokenLog
  })
}

function isUsed(node: ChainNode, { from, nonce }: Authorization, block: bigint): Promise<boolean> {
  return node.reader.readContract({
    address: node.network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [from as Hex, nonce as Hex],
    blockNumber: block,
  })
}

/**
 * Whether this very transaction used the authorization in a block that cannot be dropped any more. Its
 * height alone does not say so: a node behind the same address that lags shows it in a block which was
 * dropped since, below the safe one of another. Where each of them knows blocks as safe, all agree.
 */
async function isUsedInSafe(
  node: ChainNode,
  { transaction }: Pick<Found, 'transaction'>,
  authorization: Authorization,
): Promise<boolean> {
  const uses = await nonceLogs(node, authorization, 'safe')
  return uses.some(({ transactionHash }) => transactionHash === transaction)
}

/** A nonce is used or cancelled once, so at most one log is found on any one chain. */
async function nonceLogs(
  node: ChainNode,
  { from, nonce, sinceBlock }: Authorization,
  toBlock: 'latest' | 'safe' = 'latest',
) {
  const search = {
    address: node.network.usdc as Hex,
    args: { authorizer: from as Hex, nonce: nonce as Hex },
    fromBlock: BigInt(sinceBlock),
    toBlock,
    strict: true,
  } as const
  const [used, cancelled] = await Promise.all([
    node.reader.getContractEvents({ ...search, abi: tokenAbi, eventName: 'AuthorizationUsed' }),
    node.reader.getContractEvents({
      ...search,
      abi: tokenAbi,
      eventName: 'AuthorizationCanceled',
    }),
  ])
  return [...used, ...cancelled]
}
