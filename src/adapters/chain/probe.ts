import { encodeFunctionData, type Hex } from 'viem'
import type { Chain } from './clients.ts'
import { floatOf } from './facts.ts'
import { isTooOften } from './faults.ts'
import { type Blocks, inPieces } from './log-pages.ts'
import { tokenAbi } from './token.ts'
import { tokenLogsIn, topicOf, usedTopic } from './token-logs.ts'

/** If the last complete probe is older than this, a probe that hits the rate limit is an outage. */
const maxUnseenMs = 5 * 60_000

/**
 * Creates the probe that is repeated for health. Payments share the node's quota with it and can use it
 * up, so a probe that hits the rate limit is no outage while the node answers other calls.
 *
 * @returns a probe that throws when the node does not answer, or has stood still
 */
export function createProbe(
  chain: Chain,
  wallet: string,
  isCurrent: (timestamp: bigint) => boolean,
  now: () => Date,
): () => Promise<void> {
  let wellAt = Number.NEGATIVE_INFINITY
  let lastLook = performance.now()
  return async () => {
    const since = lastLook
    lastLook = performance.now()
    try {
      await probe(chain, wallet, isCurrent)
      wellAt = now().getTime()
    } catch (error) {
      const isSeen = chain.load.hasAnsweredSince(since) && now().getTime() - wellAt < maxUnseenMs
      if (!isSeen || !isTooOften(error)) throw error
    }
  }
}

/**
 * Makes the calls of purchases and refunds: the newest blocks, the token, an estimate, and a page of logs
 * up to the `safe` tag, which also shows how large a page this node answers for. It asks about our own
 * wallet, so nobody else shapes the answers.
 */
async function probe(
  chain: Chain,
  wallet: string,
  isCurrent: (timestamp: bigint) => boolean,
): Promise<void> {
  const { gasAccount, network, pages, reader } = chain
  const token = network.usdc as Hex
  const head = await chain.newestBlock()
  if (!isCurrent(head.timestamp)) throw new Error('The newest block is old.')
  const safe = Number((await reader.getBlock({ blockTag: 'safe' })).number)
  const page = { from: Math.max(0, safe - pages.blocks() + 1), to: safe }
  const read = ({ from }: Blocks) =>
    tokenLogsIn(chain, { from, to: 'safe' }, [usedTopic, topicOf(wallet)])
  const readLogs = async () => {
    for await (const _ of inPieces(page, read, { pages, newestFirst: true })) break
  }
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'isBlacklisted',
    args: [wallet as Hex],
  })
  await Promise.all([
    floatOf(chain, wallet),
    reader.estimateGas({ account: gasAccount.address, to: token, data }),
    readLogs(),
  ])
}
