import { type Hex, parseEventLogs, type TransactionReceipt } from 'viem'
import type { Confirmation } from '../../payments/ports.ts'
import { type Expected, provesTransfer, type TokenLog } from '../../payments/proof.ts'
import type { ChainNode } from './clients.ts'
import { isRevert } from './faults.ts'
import { receiptOf } from './receipts.ts'
import { tokenAbi } from './token.ts'
import { type SignedTransfer, transferCall } from './transfer.ts'
import { findUse, isUsedAt, isUsedInSafe, type Searched, type Use } from './uses.ts'

/** Where an expected transfer is proven to have happened. */
export interface ProvenTransfer {
  readonly transaction: Hex
  readonly block: number
}

/** What the chain says of an authorization. Whatever it does not say for certain is `open`. */
export type Verdict =
  | {
      readonly verdict: 'transferred'
      readonly found: ProvenTransfer
      /** In a block that cannot be dropped any more. */
      readonly isSafe: boolean
    }
  | Dead
  | {
      readonly verdict: 'open'
      /**
       * `spent`: shown to have been used for something else, in a block that may still be dropped.
       * `hidden`: nothing that was shown says what became of it.
       */
      readonly soFar: 'unused' | 'spent' | 'hidden'
    }

/** Proven: it was cancelled, spent on something else, or ran out unused. It will never pay. */
export interface Dead {
  readonly verdict: 'dead'
  readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired'
}

export interface Authorization extends Expected, Searched {}

/** The transfer as this transaction made it, or undefined when it did not, or is not in a block. */
export async function proveByTransaction(
  node: ChainNode,
  transaction: Hex,
  expected: Expected,
): Promise<ProvenTransfer | undefined> {
  const receipt = await receiptOf(node, transaction)
  return receipt && proveByReceipt(node, { hash: transaction, receipt }, expected)
}

/** The same where this node has just shown the transaction's receipt. */
export function proveByReceipt(
  node: ChainNode,
  { hash, receipt }: { readonly hash: Hex; readonly receipt: TransactionReceipt },
  expected: Expected,
): ProvenTransfer | undefined {
  return proves(node, receipt, expected)
    ? { transaction: hash, block: Number(receipt.blockNumber) }
    : undefined
}

/**
 * Looks the authorization up by its nonce, because anyone may have submitted it in any
 * transaction. The clock of this machine takes no part: only a block that cannot be dropped any
 * more, and whose own time is past `validBefore`, proves that nothing will come.
 *
 * The token is asked first whether the nonce is used at all, at the newest block and by its number:
 * a node that is behind does not know that block and fails, and no node has to keep old states. An
 * unused nonce is unused in every block before as well. Only a used one is looked for in the logs.
 */
export async function judge(node: ChainNode, authorization: Authorization): Promise<Verdict> {
  const [head, safe] = await Promise.all([
    node.reader.getBlock(),
    node.reader.getBlock({ blockTag: 'safe' }),
  ])
  // Two backends behind one address, of which the one with the newest block is behind.
  if (head.number < safe.number) return open('hidden')
  if (!(await isUsedAt(node, authorization, head.number))) {
    const isOver = safe.timestamp >= BigInt(authorization.validBefore)
    return isOver ? { verdict: 'dead', cause: 'expired' } : open('unused')
  }
  const use = await findUse(node, authorization, head)
  return use ? judgeUse(node, authorization, use, safe.number) : open('hidden')
}

/** A log without the receipt of its transaction shows nothing: the two may be of different chains. */
async function judgeUse(
  node: ChainNode,
  authorization: Authorization,
  { transaction, isCancelled }: Use,
  safe: bigint,
): Promise<Verdict> {
  const receipt = await receiptOf(node, transaction)
  if (!receipt) return open('hidden')
  const found = { transaction, block: Number(receipt.blockNumber) }
  const isSafe =
    receipt.blockNumber <= safe && (await isUsedInSafe(node, found, authorization, safe))
  if (proves(node, receipt, authorization)) return { verdict: 'transferred', found, isSafe }
  if (!isSafe) return open('spent')
  return { verdict: 'dead', cause: isCancelled ? 'cancelled' : 'spent_elsewhere' }
}

function open(soFar: Extract<Verdict, { verdict: 'open' }>['soFar']): Verdict {
  return { verdict: 'open', soFar }
}

/**
 * Whether this transaction still proves the transfer, and for good. It may have moved to another
 * block since: what counts is where it is now.
 *
 * The newest block is asked for first. A node that did not have it yet, and learns of it between two
 * answers, must not look like one that has lost the transaction.
 */
export async function confirmationAt(
  node: ChainNode,
  { transaction, block }: ProvenTransfer,
  expected: Authorization,
): Promise<Confirmation> {
  const [head, safe] = await Promise.all([
    node.reader.getBlock(),
    node.reader.getBlock({ blockTag: 'safe' }),
  ])
  const receipt = await receiptOf(node, transaction)
  if (!receipt) return confirmationWithout(node, { transaction, block }, expected, head)
  if (!proves(node, receipt, expected)) return 'gone'
  if (receipt.blockNumber > safe.number) return 'not_yet'
  const found = { transaction, block: Number(receipt.blockNumber) }
  return (await isUsedInSafe(node, found, expected, safe.number)) ? 'final' : 'not_yet'
}

/**
 * A transaction without a receipt may be one that a backend has not seen yet. It is gone where the
 * chain shows that it is: the nonce is unused at a block as high as its own, or another used it.
 */
async function confirmationWithout(
  node: ChainNode,
  { transaction, block }: ProvenTransfer,
  expected: Authorization,
  head: { readonly number: bigint; readonly timestamp: bigint },
): Promise<Confirmation> {
  // A node that is not there yet: it lags, or a shorter chain has replaced the old one.
  if (head.number < BigInt(block)) return 'not_yet'
  if (!(await isUsedAt(node, expected, head.number))) return 'gone'
  const use = await findUse(node, expected, head)
  return use === undefined || use.transaction === transaction ? 'unknown' : 'gone'
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
