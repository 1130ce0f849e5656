import { type Hex, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import type { ChainNode } from './clients.ts'

/** What became of a transaction; undefined while this node has it in no block. */
export async function receiptOf(
  node: ChainNode,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  try {
    return await node.reader.getTransactionReceipt({ hash })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  }
}
