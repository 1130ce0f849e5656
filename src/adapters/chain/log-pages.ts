import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'

/** A range of blocks, both ends included. */
export interface Blocks {
  readonly from: number
  readonly to: number
}

/** What most providers answer at once; those that answer less say so, and get less. */
const mostBlocks = 10_000

/** A provider that minds the range or the number of logs answers with one of these. */
const refusingStatuses = [400, 413, 422]

/**
 * Reads a range in pieces that the node answers: a piece that it refuses is halved, and the pieces
 * after it stay as small.
 *
 * @throws what the node said to a single block, or at once when it does not answer at all
 */
export async function* inPieces<T>(
  { from, to }: Blocks,
  read: (piece: Blocks) => Promise<T>,
): AsyncGenerator<T> {
  let size = mostBlocks
  let next = from
  while (next <= to) {
    const piece = { from: next, to: Math.min(to, next + size - 1) }
    const answer = await orTooMuch(() => read(piece), piece)
    if (answer.tooMuch) {
      size = Math.floor((piece.to - piece.from + 1) / 2)
    } else {
      yield answer.value
      next = piece.to + 1
    }
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

/** Providers have many words for "too much"; what matters is that it was the node that said no. */
function isRefusal(error: unknown): boolean {
  const refuses = (cause: unknown) =>
    cause instanceof RpcRequestError ||
    cause instanceof TimeoutError ||
    (cause instanceof HttpRequestError && refusingStatuses.includes(cause.status ?? 0))
  return error instanceof BaseError && Boolean(error.walk(refuses))
}
