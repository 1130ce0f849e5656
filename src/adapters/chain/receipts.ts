import { formatTransactionReceipt, type Hex, type TransactionReceipt } from 'viem'
import type { ChainNode } from './clients.ts'

/**
 * What became of a transaction; undefined while this node has it in no block.
 *
 * Asked without viem's action for it, which makes an error of every “not yet”, with its stack and a
 * page of text: a payment on its way to its block is asked about several times.
 */
export async function receiptOf(
  { reader }: ChainNode,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  const receipt = await reader.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  return receipt ? formatTransactionReceipt(receipt) : undefined
}
