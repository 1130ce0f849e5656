import { type Hex, numberToHex, pad, RpcRequestError } from 'viem'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { leaseMs } from '../../orders/workflow.ts'
import { supplierTimeoutMs } from '../../suppliers/supplier.ts'
import type { ChainNode } from './clients.ts'
import { findUse, isUsedInSafe, maxStepMs, withinStep } from './proofs.ts'
import { cancelledTopic, usedTopic } from './token.ts'

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
  return { reader, network: { usdc: searched.from } } as unknown as ChainNode
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
  const step = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(step.signal)
  onTestFinished(() => timeout.mockRestore())
  asked.mockImplementationOnce(async () => {
    step.abort(new Error('timeout'))
    return []
  })
  await expect(findUse(node, searched, head)).rejects.toThrow(/timeout/)
  expect(timeout).toHaveBeenCalledWith(maxStepMs)
  expect(asked).toHaveBeenCalledTimes(1)
})

describe('a transaction is final', () => {
  const found = { transaction: pad('0xbeef'), block: 103 }

  /**
   * A backend that has the transaction in block 103, and no block above its head. It answers for logs of
   * the blocks that it has, if they are no more than it answers for at once, and does not say what it lacks.
   */
  function backend({ head, safe, most }: Record<'head' | 'safe' | 'most', number>): ChainNode {
    const known = nodeWith(found.block, usedTopic)
    const request = async (asked: { params: readonly [{ fromBlock: Hex; toBlock: Hex }] }) => {
      const [{ fromBlock, toBlock: named }] = asked.params
      const toBlock = (named as string) === 'safe' ? numberToHex(safe) : named
      if (Number(toBlock) - Number(fromBlock) >= most) {
        const error = { code: -32_602, message: 'exceed maximum block range' }
        throw new RpcRequestError({ body: {}, error, url: 'http://node' })
      }
      if (Number(fromBlock) > head) return []
      return known.reader.request({ params: [{ fromBlock, toBlock }] } as never)
    }
    const readContract = async ({ blockTag, blockNumber }: Record<string, unknown>) => {
      const at = blockTag === 'safe' ? safe : Number(blockNumber)
      if (at > head) throw new Error('header not found')
      return at >= found.block
    }
    return { ...known, reader: { request, readContract } } as unknown as ChainNode
  }

  const pages = [1, 2, 50, 10_000]

  test.each(pages)(
    'where the backend itself calls its block safe: %i blocks a page',
    async (most) => {
      const node = backend({ head: 30_100, safe: 30_000, most })
      expect(await isUsedInSafe(node, found, searched)).toBe(true)
      expect(await isUsedInSafe(node, { ...found, transaction: pad('0x1') }, searched)).toBe(false)
    },
  )

  test.each(pages)(
    'never where the backend lags and shows a dropped block: %i a page',
    async (most) => {
      const node = backend({ head: 105, safe: 100, most })
      expect(await isUsedInSafe(node, found, searched)).toBe(false)
    },
  )
})

test('two steps at the chain and a call to the supplier end before the lease of their order', () => {
  expect(2 * maxStepMs + supplierTimeoutMs).toBeLessThan(leaseMs)
})

test('a step that takes too long is not waited for', async () => {
  expect(await withinStep(new Promise(() => {}), 'late', 1)).toBe('late')
})

test('what a step says in time is what it is', async () => {
  expect(await withinStep(Promise.resolve('done'), 'late', 60_000)).toBe('done')
  await expect(withinStep(Promise.reject(new Error('no')), 'late')).rejects.toThrow('no')
})
