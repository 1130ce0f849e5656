import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import type { ChainNode } from './clients.ts'
import { isTooOften } from './faults.ts'

export interface Blocks {
  readonly from: number
  readonly to: number
}

/** Most providers answer for this many at once; the others refuse, and are asked for less. */
const maxBlocks = 10_000
/**
 * The smallest page that is remembered. A plan that answers for fewer blocks is too small for a store, so a node
 * that fails at a few blocks fails for another reason.
 */
const minBlocks = 100
/** How often a remembered page is doubled: the node may have failed for another reason, or have a new plan. */
const doubledMs = 5 * 60_000

/** The HTTP statuses by which providers refuse a range or a number of logs. */
const refusingStatuses = [400, 413, 422]

export type PageSize = ReturnType<typeof pageSize>

/** How many blocks of logs one node answers for at once, as far as is known. */
export function pageSize(now: () => number = () => performance.now()) {
  let learnt = { blocks: maxBlocks, at: now() }
  return {
    blocks(): number {
      const doubled = Math.floor((now() - learnt.at) / doubledMs)
      return Math.min(maxBlocks, learnt.blocks * 2 ** doubled)
    },
    /** The node answered for so many, and before that refused this many of the same range, or 0. */
    learn(refused: number, answered: number): void {
      if (refused > minBlocks) learnt = { blocks: Math.max(minBlocks, answered), at: now() }
    },
  }
}

export interface Paging {
  /** Gives the first page size, and keeps what is learnt about the node. */
  readonly pages?: PageSize
  /** Reads backwards, for what has probably happened just now. */
  readonly newestFirst?: boolean
  readonly signal?: AbortSignal
}

/**
 * Reads a range in pieces that the node answers: a piece that it refuses is halved.
 *
 * @throws the node's refusal of a single block; any failure to answer at once; the reason of the signal
 */
export async function* inPieces<T>(
  { from, to }: Blocks,
  read: (piece: Blocks) => Promise<T>,
  { pages = pageSize(), newestFirst = false, signal }: Paging = {},
): AsyncGenerator<T> {
  let rest = { from, to }
  let size = pages.blocks()
  let refused = 0
  while (rest.from <= rest.to) {
    signal?.throwIfAborted()
    const piece = newestFirst
      ? { from: Math.max(rest.from, rest.to - size + 1), to: rest.to }
      : { from: rest.from, to: Math.min(rest.to, rest.from + size - 1) }
    const answer = await orTooMuch(() => read(piece), piece)
    const length = piece.to - piece.from + 1
    if (answer.tooMuch) {
      size = Math.floor(length / 2)
      refused = Math.max(refused, length)
      continue
    }
    pages.learn(refused, length)
    refused = 0
    yield answer.value
    if (size >= minBlocks) size = pages.blocks()
    rest = newestFirst
      ? { from: rest.from, to: piece.from - 1 }
      : { from: piece.to + 1, to: rest.to }
  }
}

type Answered<T> = { readonly tooMuch: false; readonly value: T } | { readonly tooMuch: true }

async function orTooMuch<T>(read: () => Promise<T>, { from, to }: Blocks): Promise<Answered<T>> {
  try {
    return { tooMuch: false, value: await read() }
  } catch (error) {
    if (from === to || !isRefusal(error)) throw error
    return { tooMuch: true }
  }
}

/** Any refusal counts, and a timeout, but no rate limit: smaller pieces would only make more calls. */
export function isRefusal(error: unknown): boolean {
  const refuses = (cause: unknown) =>
    cause instanceof RpcRequestError ||
    cause instanceof TimeoutError ||
    (cause instanceof HttpRequestError && refusingStatuses.includes(cause.status ?? 0))
  return error instanceof BaseError && Boolean(error.walk(refuses)) && !isTooOften(error)
}

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

/** The age of a block in seconds, by this machine's clock. */
export function headAgeOf({ timestamp }: Pick<BlockTime, 'timestamp'>, now: Date): number {
  return now.getTime() / 1_000 - Number(timestamp)
}
