import { type Hex, isHash } from 'viem'
import { type BlockTime, blockAt } from './block-times.ts'
import type { ChainNode } from './clients.ts'
import { type Blocks, inPieces, isRefusal } from './log-pages.ts'
import { tokenAbi } from './token.ts'
import { cancelledTopic, type LogRange, tokenLogsIn, topicOf, usedTopic } from './token-logs.ts'
import { maxStepMs } from './within-step.ts'

/** An authorization, and the blocks in which it can have been used. */
export interface Searched {
  readonly from: string
  readonly nonce: string
  /** Chain time, in seconds: the token accepts it only in blocks before that. */
  readonly validBefore: number
  /** The first block in which it can have landed; undefined if its use is not to be searched for. */
  readonly sinceBlock: number | undefined
}

/** The one use of a nonce: a transfer, or its cancellation. */
export interface Use {
  readonly transaction: Hex
  readonly isCancelled: boolean
}

/** Whether the nonce is used at this block. Throws if the node does not know the block, or has no state of it. */
export function isUsedAt(
  { network, reader }: ChainNode,
  { from, nonce }: Searched,
  block: bigint | 'safe',
): Promise<boolean> {
  return reader.readContract({
    address: network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [from as Hex, nonce as Hex],
    ...(block === 'safe' ? { blockTag: block } : { blockNumber: block }),
  })
}

/**
 * The use, found in the logs; undefined while the node does not show it. A transfer is in a block before
 * `validBefore`, so those blocks are read first, the newest first: a transfer of just now is on the first
 * page. A cancellation may come later.
 *
 * @throws after the time of a step, because nobody waits for the result any longer
 */
export async function findUse(
  node: ChainNode,
  searched: Searched,
  head: BlockTime,
  maxMs = maxStepMs,
): Promise<Use | undefined> {
  const { validBefore, sinceBlock: first } = searched
  if (first === undefined) return undefined
  const newest = Number(head.number)
  const signal = AbortSignal.timeout(maxMs)
  const end = await blockAt(node, validBefore, head)
  const useIn = async (blocks: Blocks) => {
    const read = (piece: Blocks) => usesIn(node, searched, piece)
    const paging = { pages: node.pages, newestFirst: true, signal }
    for await (const [use] of inPieces(blocks, read, paging)) if (use) return use
    return undefined
  }
  return (
    (await useIn({ from: first, to: Math.min(end - 1, newest) })) ??
    (await useIn({ from: Math.max(first, end), to: newest }))
  )
}

/**
 * Whether this transaction used the nonce in a block that can no longer be dropped. Its height alone does
 * not prove that: a lagging backend behind the same address may show it in a block that was dropped since,
 * below the safe block of another backend. So one call asks for the logs from there up to what the
 * answering backend itself calls safe. Nor does a piece of that range, which a lagging backend answers from
 * the blocks that it has. If the node refuses the range, it must show the log in its block, and the nonce
 * used in the state at what it calls safe.
 *
 * @throws when the node does not say, for example because it has no state at its safe block
 */
export async function isUsedInSafe(
  node: ChainNode,
  { transaction, block }: { readonly transaction: Hex; readonly block: number },
  searched: Searched,
): Promise<boolean> {
  const isShownUpTo = async (to: LogRange['to']) => {
    const uses = await usesIn(node, searched, { from: block, to })
    return uses.some((use) => use.transaction === transaction)
  }
  try {
    return await isShownUpTo('safe')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return (await isUsedAt(node, searched, 'safe')) && (await isShownUpTo(block))
  }
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
