import { setTimeout as delay } from 'node:timers/promises'
import { type Hex, numberToHex, pad } from 'viem'
import { expect, test, vi } from 'vitest'
import type { ChainNode } from './clients.ts'
import { pageSize } from './log-pages.ts'
import { cancelledTopic, usedTopic } from './token-logs.ts'
import { findUse } from './uses.ts'

const searched = {
  from: `0x${'a1'.repeat(20)}`,
  nonce: pad('0x07'),
  validBefore: 400,
  sinceBlock: 10,
}
const head = { number: 300n, timestamp: 600n }

/** A node with a block every two seconds and one log of the nonce, in this block. */
function nodeWith(block: number, topic: Hex): ChainNode {
  const transaction = pad('0xbeef')
  const reader = {
    getBlock: async ({ blockNumber }: { blockNumber: bigint }) => ({
      number: blockNumber,
      timestamp: 2n * blockNumber,
    }),
    async request({
      params: [{ fromBlock, toBlock }],
    }: {
      params: readonly [{ fromBlock: Hex; toBlock: Hex }]
    }) {
      const isAsked = Number(fromBlock) <= block && block <= Number(toBlock)
      const log = { blockNumber: numberToHex(block), transactionHash: transaction, topics: [topic] }
      return isAsked ? [log] : []
    },
  }
  return { reader, network: { usdc: searched.from }, pages: pageSize() } as unknown as ChainNode
}

test.each([
  ['a transfer just before its time ends', 199, usedTopic, false],
  ['a cancellation before its time ends', 20, cancelledTopic, true],
  ['a cancellation long after its time has ended', 299, cancelledTopic, true],
  ['a cancellation in the newest block', 300, cancelledTopic, true],
])('%s is found', async (_, block, topic, isCancelled) => {
  const use = await findUse(nodeWith(block, topic), searched, head)
  expect(use).toEqual({ transaction: pad('0xbeef'), isCancelled })
})

test('what stands before the first block in which it can have landed is not looked for', async () => {
  expect(await findUse(nodeWith(9, usedTopic), searched, head)).toBeUndefined()
})

test('a search that outlasts its step asks for no further page', async () => {
  const node = nodeWith(9, usedTopic)
  const asked = vi.spyOn(node.reader, 'request')
  asked.mockImplementationOnce(async () => {
    await delay(50)
    return []
  })
  node.pages.learn(10_000, 100)
  await expect(findUse(node, searched, head, 20)).rejects.toThrow(/timeout/)
  expect(asked).toHaveBeenCalledTimes(1)
})
