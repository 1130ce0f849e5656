import { formatTransactionReceipt, type Hex, numberToHex, type TransactionReceipt } from 'viem'
import type { ChainNode } from './clients.ts'

/**
 * The receipt of a transaction; undefined while it is in no block of this node's chain. A receipt alone
 * does not prove that it is in one: nodes that serve preconfirmations (Flashblocks) return one before the
 * block exists, and a backend behind a load balancer may return one of a block that was dropped.
 *
 * Made without viem's action, which throws an error with a stack and a page of text for every “not yet”:
 * a pending payment is asked about several times.
 */
export async function receiptOf(
  node: ChainNode,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  const receipt = await node.reader.request({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  })
  // The receipt of another transaction proves nothing about this one.
  if (receipt?.transactionHash.toLowerCase() !== hash.toLowerCase()) return undefined
  const formatted = formatTransactionReceipt(receipt)
  return (await isInBlock(node, formatted)) ? formatted : undefined
}

/** Whether its block is on the chain: not above the newest one, and with the same hash at its height. */
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
