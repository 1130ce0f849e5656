import { type Hex, parseEventLogs, type TransactionReceipt } from 'viem'
import type { Confirmation } from '../../payments/ports.ts'
import { type Expected, provesTransfer, type TokenLog } from '../../payments/proof.ts'
import type { ChainNode } from './clients.ts'
import { isRevert } from './faults.ts'
import { receiptOf } from './receipts.ts'
import { tokenAbi } from './token.ts'
import { type SignedTransfer, transferCall } from './transfer.ts'
import { findUse, isUsedAt, isUsedInSafe, type Searched, type Use } from './uses.ts'

/** Where an expected transfer provably happened. */
export interface ProvenTransfer {
  readonly transaction: Hex
  readonly block: number
}

/** What the chain proves about an authorization. Anything unproven is `open`. */
export type Verdict =
  | {
      readonly verdict: 'transferred'
      readonly found: ProvenTransfer
      /** Whether its block can no longer be dropped. */
      readonly isSafe: boolean
    }
  | Dead
  | {
      readonly verdict: 'open'
      /**
       * `spent`: used for something else, in a block that may still be dropped.
       * `hidden`: the node does not show what became of it.
       */
      readonly soFar: 'unused' | 'spent' | 'hidden'
    }

/** Proven: it was cancelled, spent on something else, or ran out unused. It will never pay. */
export interface Dead {
  readonly verdict: 'dead'
  readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired'
}

export interface Authorization extends Expected, Searched {}

/** The transfer if this transaction made it; undefined if it did not, or is not in a block. */
export async function proveByTransaction(
  node: ChainNode,
  transaction: Hex,
  expected: Expected,
): Promise<ProvenTransfer | undefined> {
  const receipt = await receiptOf(node, transaction)
  return receipt && proveByReceipt(node, { hash: transaction, receipt }, expected)
}

/** The same from a receipt that this node has just returned. */
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
 * Looks the authorization up by its nonce, because anyone may have submitted it in any transaction.
 * The clock of this machine plays no part: only a block that can no longer be dropped, and whose own
 * time has reached `validBefore`, proves that no payment will come.
 *
 * The token is first asked whether the nonce is used, at the number of the newest block: a backend that
 * lags does not know that block and fails, and no node needs old state. A nonce that is unused there is
 * unused in all earlier blocks. Only a used one is searched for in the logs.
 */
export async function judge(node: ChainNode, authorization: Authorization): Promise<Verdict> {
  const [head, safe] = await Promise.all([
    node.newestBlock(),
    node.reader.getBlock({ blockTag: 'safe' }),
  ])
  // Two backends behind one address disagree: the one that returned the newest block lags.
  if (head.number < safe.number) return open('hidden')
  if (!(await isUsedAt(node, authorization, head.number))) {
    const isOver = safe.timestamp >= BigInt(authorization.validBefore)
    return isOver ? { verdict: 'dead', cause: 'expired' } : open('unused')
  }
  const use = await findUse(node, authorization, head)
  return use ? judgeUse(node, authorization, use, safe.number) : open('hidden')
}

/** A log without the receipt of its transaction proves nothing: its block may have been dropped. */
async function judgeUse(
  node: ChainNode,
  authorization: Authorization,
  { transaction, isCancelled }: Use,
  safe: bigint,
): Promise<Verdict> {
  const receipt = await receiptOf(node, transaction)
  if (!receipt) return open('hidden')
  const found = { transaction, block: Number(receipt.blockNumber) }
  const isSafe = receipt.blockNumber <= safe && (await isUsedInSafe(node, found, authorization))
  if (proves(node, receipt, authorization)) return { verdict: 'transferred', found, isSafe }
  if (!isSafe) return open('spent')
  return { verdict: 'dead', cause: isCancelled ? 'cancelled' : 'spent_elsewhere' }
}

function open(soFar: Extract<Verdict, { verdict: 'open' }>['soFar']): Verdict {
  return { verdict: 'open', soFar }
}

/**
 * Whether this transaction still proves the transfer, and whether for good. A reorganisation may have
 * moved it to another block; its present block counts.
 *
 * The newest block is read before the receipt. A node that learns of the transaction's block between two
 * answers must not look like one that has lost the transaction.
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
  return (await isUsedInSafe(node, found, expected)) ? 'final' : 'not_yet'
}

/**
 * Without a receipt, a backend may not have seen the transaction yet. It is gone only if the nonce is
 * unused at a head at least as high as its block, or if another transaction used the nonce.
 */
async function confirmationWithout(
  node: ChainNode,
  { transaction, block }: ProvenTransfer,
  expected: Authorization,
  head: { readonly number: bigint; readonly timestamp: bigint },
): Promise<Confirmation> {
  // The node has not reached that block: it lags, or a reorganisation left a shorter chain.
  if (head.number < BigInt(block)) return 'not_yet'
  if (!(await isUsedAt(node, expected, head.number))) return 'gone'
  const use = await findUse(node, expected, head)
  return use === undefined || use.transaction === transaction ? 'unknown' : 'gone'
}

/** Whether the token would revert this transfer in the state of this block. Throws when the node does not say. */
export async function wouldRevert(
  { network, reader }: ChainNode,
  transfer: SignedTransfer,
  blockNumber: bigint,
): Promise<boolean> {
  try {
    await reader.simulateContract({ ...transferCall(network, transfer), blockNumber })
    return false
  } catch (error) {
    if (isRevert(error)) return true
    throw error
  }
}

/**
 * Whether the token refuses every transfer to this wallet now, because it is paused or has blacklisted
 * the wallet. The payer can do nothing about either; signing again does not help.
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
