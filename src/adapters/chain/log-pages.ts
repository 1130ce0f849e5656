import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { isTooOften } from './faults.ts'

/** A range of blocks, both ends included. */
export interface Blocks {
  readonly from: number
  readonly to: number
}

/** What most providers answer at once; those that answer less say so, and get less. */
const maxBlocks = 10_000
/** How long it is remembered that a provider answers less. It may have had a bad hour, or a new plan. */
const rememberedMs = 60 * 60_000

/** A provider that minds the range or the number of logs answers with one of these. */
const refusingStatuses = [400, 413, 422]

/** How many blocks one node answers for at once, as far as it has shown. */
export interface PageSize {
  blocks(): number
  /** It has refused more than so many, and answered for so many. */
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
  /** The size to begin with; what is learnt of the node is kept there. */
  readonly pages?: PageSize
  /** Backwards, for what has probably happened just now. */
  readonly newestFirst?: boolean
}

/**
 * Reads a range in pieces that the node answers: a piece that it refuses is halved, and the pieces
 * after it stay as small.
 *
 * @throws what the node said to a single block, or at once when it does not answer at all
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
 * Providers have many words for "too much"; what matters is that it was the node that said no. Where
 * it minds how often it is asked, smaller pieces would only be more questions.
 */
function isRefusal(error: unknown): boolean {
  const refuses = (cause: unknown) =>
    cause instanceof RpcRequestError ||
    cause instanceof TimeoutError ||
    (cause instanceof HttpRequestError && refusingStatuses.includes(cause.status ?? 0))
  return error instanceof BaseError && Boolean(error.walk(refuses)) && !isTooOften(error)
}
