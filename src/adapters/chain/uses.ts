import { type Hex, isHash } from 'viem'
import { type BlockTime, blockAt } from './block-times.ts'
import type { ChainNode } from './clients.ts'
import { type Blocks, inPieces } from './log-pages.ts'
import { tokenAbi } from './token.ts'
import { cancelledTopic, type LogRange, tokenLogsIn, topicOf, usedTopic } from './token-logs.ts'

/** An authorization, and where it can have been used. */
export interface Searched {
  readonly from: string
  readonly nonce: string
  /** Chain time, in seconds: the token takes it in blocks before that. */
  readonly validBefore: number
  /** The first block in which it can have landed; undefined where its use is not searched for. */
  readonly sinceBlock: number | undefined
}

/** The one use of a nonce: a transfer, or its cancellation. */
export interface Use {
  readonly transaction: Hex
  readonly isCancelled: boolean
}

/** What the token says at this block, by its number. Throws where the node does not know the block. */
export function isUsedAt(
  { network, reader }: ChainNode,
  { from, nonce }: Searched,
  block: bigint,
): Promise<boolean> {
  return reader.readContract({
    address: network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [from as Hex, nonce as Hex],
    blockNumber: block,
  })
}

/**
 * The log of the use, or undefined while it is not shown. A transfer stands in a block before
 * `validBefore`, so these are read first and from the newest on: what was sent just now is in the
 * first page. A cancellation may come later.
 */
export async function findUse(
  node: ChainNode,
  searched: Searched,
  head: BlockTime,
): Promise<Use | undefined> {
  const { validBefore, sinceBlock: first } = searched
  if (first === undefined) return undefined
  const newest = Number(head.number)
  const end = await blockAt(node, validBefore, head)
  return (
    (await useIn(node, searched, { from: first, to: Math.min(end - 1, newest) })) ??
    (await useIn(node, searched, { from: Math.max(first, end), to: newest }))
  )
}

async function useIn(
  node: ChainNode,
  searched: Searched,
  blocks: Blocks,
): Promise<Use | undefined> {
  const read = (piece: Blocks) => usesIn(node, searched, piece)
  const paging = { pages: node.pages, newestFirst: true }
  for await (const [use] of inPieces(blocks, read, paging)) if (use) return use
  return undefined
}

/**
 * Whether this very transaction used the nonce in a block that cannot be dropped any more. Its
 * height alone does not say so: a node behind the same address that lags shows it in a block which was
 * dropped since, below the safe one of another. So one node is asked for the logs from there to what
 * it knows as safe itself; where that is more than it answers for, up to a block that a node which
 * lags does not have.
 */
export async function isUsedInSafe(
  node: ChainNode,
  { transaction, block }: { readonly transaction: Hex; readonly block: number },
  searched: Searched,
  safe: bigint,
): Promise<boolean> {
  const read = (piece: Blocks) =>
    usesIn(node, searched, piece.to < Number(safe) ? piece : { ...piece, to: 'safe' })
  for await (const uses of inPieces({ from: block, to: Number(safe) }, read, node)) {
    return uses.some((use) => use.transaction === transaction)
  }
  return false
}

/** A nonce is used or cancelled once, so at most one log is found on any one chain. */
async function usesIn(node: ChainNode, { from, nonce }: Searched, range: LogRange): Promise<Use[]> {
  const topics = [[usedTopic, cancelledTopic], topicOf(from), nonce as Hex]
  const logs = await tokenLogsIn(node, range, topics)
  return logs.flatMap(({ topics: [event], transactionHash }) =>
    transactionHash && isHash(transactionHash)
      ? [{ transaction: transactionHash, isCancelled: event === cancelledTopic }]
      : [],
  )
}
