import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { isTooOften } from './faults.ts'

/** A range of blocks, both ends included. */
export interface Blocks {
  readonly from: number
  readonly to: number
}

/** Most providers answer for this many at once; the others refuse, and are asked for less. */
const maxBlocks = 10_000
/** How long a smaller page is remembered: the provider may have had a bad hour, or have a new plan. */
const rememberedMs = 60 * 60_000

/** The HTTP statuses by which providers refuse a range or a number of logs. */
const refusingStatuses = [400, 413, 422]

/** How many blocks of logs one node answers for at once, as far as is known. */
export interface PageSize {
  blocks(): number
  /** Records that the node refused more than this, and answered for this many. */
  learn(blocks: number): void
}

export function pageSize(now: () => number = () => performance.now()): PageSize {
  let learnt: { readonly blocks: number; readonly until: number } | undefined
  return {
    blocks: () => (learnt && now() < learnt.until ? learnt.blocks : maxBlocks),
    learn(blocks) {
      learnt = { blocks, until: now() + rememberedMs }
    },
  }
}

export interface Paging {
  /** Gives the first page size, and keeps what is learnt about the node. */
  readonly pages?: PageSize
  /** Reads backwards, for what has probably happened just now. */
  readonly newestFirst?: boolean
}

/**
 * Reads a range in pieces that the node answers: a piece that it refuses is halved, and the pieces
 * after it stay as small.
 *
 * @throws the node's refusal of a single block; any failure to answer at once
 */
export async function* inPieces<T>(
  { from, to }: Blocks,
  read: (piece: Blocks) => Promise<T>,
  { pages = pageSize(), newestFirst = false }: Paging = {},
): AsyncGenerator<T> {
  let rest = { from, to }
  let size = pages.blocks()
  let wasRefused = false
  while (rest.from <= rest.to) {
    const piece = newestFirst
      ? { from: Math.max(rest.from, rest.to - size + 1), to: rest.to }
      : { from: rest.from, to: Math.min(rest.to, rest.from + size - 1) }
    const answer = await orTooMuch(() => read(piece), piece)
    if (answer.tooMuch) {
      size = Math.floor((piece.to - piece.from + 1) / 2)
      wasRefused = true
      continue
    }
    if (wasRefused) pages.learn(size)
    wasRefused = false
    yield answer.value
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

/**
 * Providers word "too much" in many ways, so any refusal by the node counts, and a timeout. A rate limit
 * does not: smaller pieces would only make more calls.
 */
function isRefusal(error: unknown): boolean {
  const refuses = (cause: unknown) =>
    cause instanceof RpcRequestError ||
    cause instanceof TimeoutError ||
    (cause instanceof HttpRequestError && refusingStatuses.includes(cause.status ?? 0))
  return error instanceof BaseError && Boolean(error.walk(refuses)) && !isTooOften(error)
}
