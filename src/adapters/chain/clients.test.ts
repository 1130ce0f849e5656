import { beforeEach, expect, test, vi } from 'vitest'
import { type ChainNode, ethPriceOf, newestShown, recent } from './clients.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))

/** What follows when a node shows blocks of these numbers in turn, each so many milliseconds after the last. */
async function shownFor(blocks: readonly (readonly [number: bigint, afterMs: number])[]) {
  let next = 0n
  const newest = newestShown(async () => ({ number: next, timestamp: 1_000n + next }))
  const shown: bigint[] = []
  for (const [number, afterMs] of blocks) {
    vi.advanceTimersByTime(afterMs)
    next = number
    const block = await newest()
    expect(block.timestamp).toBe(1_000n + block.number)
    shown.push(block.number)
  }
  return shown
}

test('a block that was shown does not vanish when a lagging node answers', async () => {
  const blocks = [
    [7n, 0],
    [5n, 1],
    [8n, 1],
    [6n, 59_999],
    [9n, 0],
  ] as const
  expect(await shownFor(blocks)).toEqual([7n, 7n, 8n, 8n, 9n])
})

test('a minute later a lower one counts: the chain was made shorter, or the number was a mistake', async () => {
  const blocks = [
    [900n, 0],
    [5n, 30_000],
    [6n, 30_000],
    [5n, 0],
  ] as const
  expect(await shownFor(blocks)).toEqual([900n, 900n, 6n, 6n])
})

/** Answers 1, 2, 3 … and can be made to fail. */
function counting() {
  const asked = { times: 0, failing: false }
  const ask = recent(1_000, async () => {
    asked.times += 1
    if (asked.failing) throw new Error(`failed ${asked.times}`)
    return asked.times
  })
  return { asked, ask }
}

test('those who ask at one moment, and a moment later, get one answer, and then a new one', async () => {
  const { ask, asked } = counting()
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1])
  vi.advanceTimersByTime(999)
  expect(await ask()).toBe(1)
  expect(asked.times).toBe(1)
  vi.advanceTimersByTime(1)
  expect(await ask()).toBe(2)
})

test('a failure is kept for nobody', async () => {
  const { ask, asked } = counting()
  asked.failing = true
  await expect(Promise.all([ask(), ask()])).rejects.toThrow('failed 1')
  asked.failing = false
  expect(await ask()).toBe(2)
})

test.each([
  ['is that of the feed, in dollars', { answer: 312_055_000_000n }, 3_120.55],
  ['is unknown when the feed stands still', { answer: 312_055_000_000n, age: 3_600n }, undefined],
  ['is unknown when the feed does not answer', {}, undefined],
])(
  'the price of ETH %s',
  async (_, { answer, age = 60n }: { answer?: bigint; age?: bigint }, price) => {
    const readContract = async () => {
      if (answer === undefined) throw new Error('no contract there')
      return [1n, answer, 0n, 10_000n - age, 1n]
    }
    const reader = { readContract, getBlock: async () => ({ timestamp: 10_000n }) }
    const network = { ethUsdFeed: '0x01' }
    const { refresh, last } = ethPriceOf({ network, reader } as unknown as ChainNode)
    await refresh()
    expect(last()).toBe(price)
  },
)
