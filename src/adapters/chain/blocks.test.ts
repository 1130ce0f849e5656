import fc from 'fast-check'
import { HttpRequestError, RpcRequestError } from 'viem'
import { expect, test, vi } from 'vitest'
import { type Blocks, blockAt, type ChainNode, inPieces, type Paging } from './clients.ts'

const tooMany = () =>
  new RpcRequestError({
    body: {},
    error: { code: -32_005, message: 'query returned more than 10000 results' },
    url: 'http://node',
  })

/** A node that answers for at most this many blocks at once. */
function node(most: number, refusal: () => Error = tooMany) {
  return vi.fn(async ({ from, to }: Blocks) => {
    if (to - from + 1 > most) throw refusal()
    return { from, to }
  })
}

async function read(
  blocks: Blocks,
  answer: ReturnType<typeof node>,
  paging?: Paging,
): Promise<Blocks[]> {
  const pieces: Blocks[] = []
  for await (const piece of inPieces(blocks, answer, paging)) pieces.push(piece)
  return pieces
}

test('the newest blocks come first when that is asked for, and each once', async () => {
  const answer = node(10_000)
  const pieces = await read({ from: 1, to: 25_000 }, answer, { newestFirst: true })
  expect(answer).toHaveBeenCalledTimes(3)
  expect(pieces[0]?.to).toBe(25_000)
  expectWhole(pieces.toReversed(), { from: 1, to: 25_000 })
})

function expectWhole(pieces: readonly Blocks[], { from, to }: Blocks): void {
  expect(pieces[0]?.from).toBe(from)
  expect(pieces.at(-1)?.to).toBe(to)
  for (const [index, piece] of pieces.slice(1).entries()) {
    expect(piece.from).toBe((pieces[index]?.to ?? 0) + 1)
  }
}

test('what a node answers at once is one question', async () => {
  const answer = node(10_000)
  expect(await read({ from: 5, to: 10_004 }, answer)).toEqual([{ from: 5, to: 10_004 }])
  expect(answer).toHaveBeenCalledTimes(1)
})

test.each([1, 7, 10, 500, 2_000, 9_999])(
  'a node that answers %i blocks at once is asked for all blocks, each once',
  async (most) => {
    const blocks = { from: 1_000_000, to: 1_000_000 + Math.min(25_000, most * 40) }
    const answer = node(most)
    expectWhole(await read(blocks, answer), blocks)
    // It refuses no more often than ten thousand can be halved.
    const refused = answer.mock.results.length - (await read(blocks, node(most))).length
    expect(refused).toBeLessThanOrEqual(14)
  },
)

test('an empty range asks nothing', async () => {
  const answer = node(10)
  expect(await read({ from: 5, to: 4 }, answer)).toEqual([])
  expect(answer).not.toHaveBeenCalled()
})

test('a node that refuses a single block is not asked for ever', async () => {
  const answer = node(0)
  await expect(read({ from: 1, to: 8 }, answer)).rejects.toThrow(/10000 results/)
  expect(answer.mock.calls.length).toBeLessThan(6)
})

test('a node that is away is no node that minds the range', async () => {
  const away = () => new HttpRequestError({ body: {}, url: 'http://node', details: 'refused' })
  const answer = node(0, away)
  await expect(read({ from: 1, to: 8 }, answer)).rejects.toThrow(/HTTP request failed/)
  expect(answer).toHaveBeenCalledTimes(1)
})

test('a search that nobody waits for any more asks nothing further', async () => {
  const abandoned = new AbortController()
  const answer = node(10)
  answer.mockImplementationOnce(async (blocks) => {
    abandoned.abort()
    return blocks
  })
  const { signal } = abandoned
  await expect(read({ from: 1, to: 50_000 }, answer, { signal })).rejects.toThrow(/abort/)
  expect(answer).toHaveBeenCalledTimes(1)
})

/** A chain with this many seconds between its blocks, which counts the calls. */
function chainOf(pauses: readonly number[]) {
  let time = 1_000_000
  const times = [time, ...pauses.map((pause) => (time += pause))]
  let looks = 0
  const reader = {
    async getBlock({ blockNumber }: { blockNumber: bigint }) {
      looks += 1
      return { number: blockNumber, timestamp: BigInt(times[Number(blockNumber)] ?? -1) }
    },
  }
  const head = { number: BigInt(pauses.length), timestamp: BigInt(time) }
  return { node: { reader } as unknown as ChainNode, head, times, looks: () => looks }
}

test('is the first block that is not before a time, however unevenly blocks come', async () => {
  const pauses = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 3_000 })
  await fc.assert(
    fc.asyncProperty(pauses, fc.integer({ min: -100, max: 1_100 }), async (all, thousandths) => {
      const { node, head, times } = chainOf(all)
      const [first = 0] = times
      const time = Math.round(first + ((Number(head.timestamp) - first) * thousandths) / 1_000)
      const expected = times.findIndex((each) => each >= time)
      expect(await blockAt(node, time, head)).toBe(expected === -1 ? times.length : expected)
    }),
  )
})

test.each([2, 1, 12])('takes a few looks where blocks come every %i s', async (pause) => {
  const { node, head, looks } = chainOf(Array.from({ length: 100_000 }, () => pause))
  await blockAt(node, Number(head.timestamp) - 50_001 * pause, head)
  expect(looks()).toBeLessThanOrEqual(9)
})

test('a node that shows another block than it was asked for proves nothing', async () => {
  const reader = { getBlock: async () => ({ number: 7n, timestamp: 5n }) }
  const head = { number: 9n, timestamp: 100n }
  const asked = blockAt({ reader } as unknown as ChainNode, 50, head)
  await expect(asked).rejects.toThrow(/Asked for block 0, got 7/)
})
