import type { ChainNode } from './clients.ts'

/** A block's number and its own time, in seconds. */
export interface BlockTime {
  readonly number: bigint
  readonly timestamp: bigint
}

interface At {
  readonly number: number
  readonly time: number
}

/** How many blocks back the first look goes. No block rate is assumed. */
const firstStep = 512

/**
 * The first block whose own time is at or after this time: the block after the newest if there is none
 * yet, and 0 for a time before the chain.
 */
export async function blockAt(node: ChainNode, time: number, head: BlockTime): Promise<number> {
  let after = at(head)
  if (after.time < time) return after.number + 1
  const before = await someBefore(node, time, after)
  if (before === undefined) return 0
  let low = before
  for (let looks = 0; after.number - low.number > 1; looks += 1) {
    const seen = await lookAt(node, between(low, after, looks % 2 === 0 ? time : undefined))
    if (seen.time < time) low = seen
    else after = seen
  }
  return after.number
}

/** A block before the time, looked for ever further back; undefined when the chain is younger. */
async function someBefore(node: ChainNode, time: number, head: At): Promise<At | undefined> {
  for (let step = firstStep; ; step *= 4) {
    const seen = await lookAt(node, Math.max(0, head.number - step))
    if (seen.time < time) return seen
    if (seen.number === 0) return undefined
  }
}

/** The block of this time if blocks came evenly; without a time, the middle. */
function between(low: At, high: At, time: number | undefined): number {
  const blocks = high.number - low.number
  const share = time === undefined ? 0.5 : (time - low.time) / Math.max(1, high.time - low.time)
  return low.number + Math.min(blocks - 1, Math.max(1, Math.round(blocks * share)))
}

/** @throws when the node returns another block, because its answers are then inconsistent */
async function lookAt({ reader }: ChainNode, number: number): Promise<At> {
  const seen = at(await reader.getBlock({ blockNumber: BigInt(number) }))
  if (seen.number !== number) throw new Error(`Asked for block ${number}, got ${seen.number}.`)
  return seen
}

function at({ number, timestamp }: BlockTime): At {
  return { number: Number(number), time: Number(timestamp) }
}
