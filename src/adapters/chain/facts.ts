import { encodeFunctionData, type Hex } from 'viem'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { ChainFacts } from '../../payments/ports.ts'
import { type Blocks, inPieces } from './blocks.ts'
import type { Chain } from './clients.ts'
import { isTooOften } from './faults.ts'
import { tokenAbi, tokenLogsIn, topicOf, usedTopic } from './token.ts'

/** Reads them all at once. Throws when the node does not answer one of them. */
export async function chainFacts(
  { network, reader, gasAccount }: Chain,
  refundWallet: string,
): Promise<ChainFacts> {
  const [head, safe, refundFloat, gasWei] = await Promise.all([
    reader.getBlock(),
    reader.getBlock({ blockTag: 'safe' }),
    floatOf({ network, reader }, refundWallet),
    reader.getBalance({ address: gasAccount.address }),
  ])
  return { headAt: timeOf(head), safeHeadAt: timeOf(safe), refundFloat, gasWei }
}

/** The USDC in the refund wallet. Throws when the node does not answer. */
export async function floatOf(
  { network, reader }: Pick<Chain, 'network' | 'reader'>,
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

/** The gas of a plain transfer with its margin, rounded up for one resend at a higher fee. */
const gasOfTransfer = 150_000n

/** The balance of the gas wallet and the present cost of a transfer, in wei. Throws when the node does not answer. */
export async function gasFacts({
  reader,
  gasAccount,
  fees,
}: Pick<Chain, 'reader' | 'gasAccount' | 'fees'>) {
  const [balance, { maxFeePerGas }] = await Promise.all([
    reader.getBalance({ address: gasAccount.address }),
    fees(),
  ])
  return { balance, perTransfer: gasOfTransfer * maxFeePerGas }
}

function timeOf({ timestamp }: { readonly timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000)
}

/** The age of a block in seconds, by this machine's clock. */
export function headAgeOf({ timestamp }: { readonly timestamp: bigint }, now: Date): number {
  return now.getTime() / 1_000 - Number(timestamp)
}

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
