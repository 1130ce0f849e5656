import { encodeEventTopics, formatLog, type Hex, type Log, numberToHex, pad } from 'viem'
import type { ChainNode } from './clients.ts'
import { tokenAbi } from './token.ts'

export const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
export const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
export const [cancelledTopic] = encodeEventTopics({
  abi: tokenAbi,
  eventName: 'AuthorizationCanceled',
})

/** The filter for each topic of a log: one value, one of several, or null for any. */
export type Topics = readonly (Hex | readonly Hex[] | null)[]

/** A range of blocks, both ends included. The answering node resolves `safe`. */
export interface LogRange {
  readonly from: number
  readonly to: number | 'safe'
}

/** The token's logs with these topics, by one call. */
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
