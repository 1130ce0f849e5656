import { randomBytes, randomInt } from 'node:crypto'
import { getAddress, type Hex, hashTypedData, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { networks } from '../../payments/networks.ts'
import type { ChainNode } from './clients.ts'
import { receiptOf } from './clients.ts'
import { authorizationHash, transferTypes } from './token.ts'

const bytes = (count: number): Hex => `0x${randomBytes(count).toString('hex')}`

test.each(Object.values(networks))('what is signed on $name is what viem has signed', (network) => {
  for (let made = 0; made < 50; made += 1) {
    const transfer = {
      from: getAddress(bytes(20)),
      to: bytes(20),
      amount: BigInt(bytes(randomInt(1, 33))),
      validAfter: randomInt(2 ** 40),
      validBefore: randomInt(2 ** 40),
      nonce: bytes(32),
    }
    const { from, to, amount, validAfter, validBefore, nonce } = transfer
    const { chainId, usdc, usdcDomain } = network
    const signed = hashTypedData({
      domain: { ...usdcDomain, chainId, verifyingContract: usdc },
      types: transferTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        ...{ from, to, value: amount, nonce },
        ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
      },
    })
    expect(authorizationHash(network, transfer)).toBe(signed)
  }
})

const hashOf = (letter: string) => `0x${letter.repeat(64)}` as const

/** A node with these blocks, whose receipt is always of block 7 with hash `a`. */
function nodeWith(blocks: Readonly<Record<number, `0x${string}`>>): ChainNode {
  const head = Math.max(...Object.keys(blocks).map(Number))
  const receipt = {
    ...{ blockNumber: '0x7', blockHash: hashOf('a'), status: '0x1', logs: [] },
    transactionHash: hashOf('d'),
  }
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_getTransactionReceipt: () => receipt,
    eth_getBlockByNumber: ([at]) => {
      const [, hash] = Object.entries(blocks).find(([one]) => numberToHex(Number(one)) === at) ?? []
      return hash === undefined ? null : { hash }
    },
  }
  const reader = {
    getBlock: async () => ({ number: BigInt(head), hash: blocks[head] }),
    request: async ({ method, params }: { method: string; params: readonly unknown[] }) =>
      answers[method]?.(params),
  }
  return { reader } as unknown as ChainNode
}

test.each<[string, Readonly<Record<number, `0x${string}`>>, boolean]>([
  ['of the newest block', { 7: hashOf('a') }, true],
  ['of a block below the newest one', { 7: hashOf('a'), 9: hashOf('c') }, true],
  ['of a block that is not there yet', { 6: hashOf('b') }, false],
  ['of another newest block of that height', { 7: hashOf('b') }, false],
  ['of a block that was replaced', { 7: hashOf('b'), 9: hashOf('c') }, false],
  ['of a block that the node does not show', { 9: hashOf('c') }, false],
])('a receipt %s counts only where its block is on the chain', async (_, blocks, isThere) => {
  const receipt = await receiptOf(nodeWith(blocks), hashOf('d'))
  expect(receipt?.blockNumber).toBe(isThere ? 7n : undefined)
})

test('a receipt of another transaction counts for none', async () => {
  expect(await receiptOf(nodeWith({ 7: hashOf('a') }), hashOf('e'))).toBe(undefined)
})
