import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockAt } from './block-times.ts'
import type { ChainNode } from './clients.ts'

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
    fc.asyncProperty(
      pauses,
      fc.double({ min: -0.1, max: 1.1, noNaN: true }),
      async (all, share) => {
        const { node, head, times } = chainOf(all)
        const [first = 0] = times
        const time = Math.round(first + (Number(head.timestamp) - first) * share)
        const expected = times.findIndex((each) => each >= time)
        expect(await blockAt(node, time, head)).toBe(expected === -1 ? times.length : expected)
      },
    ),
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
