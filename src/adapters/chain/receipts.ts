import { formatTransactionReceipt, type Hex, numberToHex, type TransactionReceipt } from 'viem'
import type { ChainNode } from './clients.ts'

/**
 * What became of a transaction; undefined while this node has it in no block of its chain. A receipt
 * alone does not say that: nodes that serve preconfirmations (Flashblocks) answer with one before
 * the block exists, and a node behind a balancer may answer for a block that was dropped.
 *
 * Asked without viem's action for it, which makes an error of every “not yet”, with its stack and a
 * page of text: a payment on its way to its block is asked about several times.
 */
export async function receiptOf(
  node: ChainNode,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  const receipt = await node.reader.request({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  })
  // One of another transaction says nothing of this one.
  if (receipt?.transactionHash.toLowerCase() !== hash.toLowerCase()) return undefined
  const formatted = formatTransactionReceipt(receipt)
  return (await isInBlock(node, formatted)) ? formatted : undefined
}

/** Whether its block is not above the newest one and is the one that the chain has there. */
async function isInBlock(
  { reader }: ChainNode,
  { blockHash, blockNumber }: TransactionReceipt,
): Promise<boolean> {
  const head = await reader.getBlock()
  if (head.number <= blockNumber) return head.hash === blockHash
  const block = await reader.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(blockNumber), false],
  })
  return block?.hash === blockHash
}
