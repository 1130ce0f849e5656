import {
  BaseError,
  ContractFunctionRevertedError,
  type Hex,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { type Expected, provesTransfer, type TokenLog } from '../../payments/proof.ts'
import type { Chain } from './clients.ts'
import { tokenAbi } from './token.ts'
import { type SignedTransfer, transferCall } from './transfer.ts'

/** Where an expected transfer is proven to have happened. */
export interface Found {
  readonly transaction: Hex
  readonly block: number
}

/** What the chain says of an authorization. Whatever it does not say for certain is `open`. */
export type Verdict =
  | { readonly verdict: 'transferred'; readonly found: Found }
  /** Proven: it was cancelled, spent on something else, or ran out unused. It will never pay. */
  | { readonly verdict: 'dead'; readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired' }
  | { readonly verdict: 'open' }

export interface Authorization extends Expected {
  /** Chain time, in seconds. */
  readonly validBefore: number
  readonly sinceBlock: number
}

/** The transfer as this transaction made it, or undefined when it did not, or is not in a block. */
export async function proveByTransaction(
  chain: Chain,
  transaction: Hex,
  expected: Expected,
): Promise<Found | undefined> {
  const receipt = await receiptOf(chain, transaction)
  if (receipt?.status !== 'success' || !provesTransfer(tokenLogs(chain, receipt), expected)) {
    return undefined
  }
  return { transaction, block: Number(receipt.blockNumber) }
}

/**
 * Looks the authorization up by its nonce, because anyone may have submitted it in any
 * transaction. The clock of this machine takes no part: only a block that cannot be dropped any
 * more, and whose own time is past `validBefore`, proves that nothing will come.
 */
export async function judge(chain: Chain, authorization: Authorization): Promise<Verdict> {
  const safe = await chain.reader.getBlock({ blockTag: 'safe' })
  const [use] = await nonceLogs(chain, authorization)
  if (use) {
    const found = await proveByTransaction(chain, use.transactionHash, authorization)
    if (found) return { verdict: 'transferred', found }
    if (use.blockNumber > safe.number) return { verdict: 'open' }
    const cause = use.eventName === 'AuthorizationCanceled' ? 'cancelled' : 'spent_elsewhere'
    return { verdict: 'dead', cause }
  }
  if (safe.timestamp < BigInt(authorization.validBefore)) return { verdict: 'open' }
  const used = await isUsed(chain, authorization, safe.number)
  // Used without a log that says so means that the node's answers do not fit together: not a proof.
  return used ? { verdict: 'open' } : { verdict: 'dead', cause: 'expired' }
}

/** Whether the token itself refuses this transfer just now. Throws when the node cannot say. */
export async function wouldRevert(
  { network, reader }: Chain,
  transfer: SignedTransfer,
): Promise<boolean> {
  try {
    await reader.simulateContract(transferCall(network, transfer))
    return false
  } catch (error) {
    const isRevert = (cause: unknown) => cause instanceof ContractFunctionRevertedError
    if (error instanceof BaseError && error.walk(isRevert)) return true
    throw error
  }
}

/**
 * Whether the token takes no transfer to this wallet from anybody just now, because it is paused or
 * has blacklisted the wallet. A payer can do nothing about either, least of all by signing again.
 */
export async function isClosedTo({ network, reader }: Chain, wallet: string): Promise<boolean> {
  const token = { address: network.usdc as Hex, abi: tokenAbi } as const
  const [isPaused, isBlocked] = await Promise.all([
    reader.readContract({ ...token, functionName: 'paused' }),
    reader.readContract({ ...token, functionName: 'isBlacklisted', args: [wallet as Hex] }),
  ])
  return isPaused || isBlocked
}

/** Whether a block is beyond being dropped. */
export async function isSafe(chain: Chain, block: number): Promise<boolean> {
  const safe = await chain.reader.getBlock({ blockTag: 'safe' })
  return safe.number >= BigInt(block)
}

export async function receiptOf(chain: Chain, hash: Hex): Promise<TransactionReceipt | undefined> {
  try {
    return await chain.reader.getTransactionReceipt({ hash })
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  }
}

function tokenLogs(chain: Chain, receipt: TransactionReceipt): TokenLog[] {
  const token = chain.network.usdc.toLowerCase()
  const own = receipt.logs.filter((log) => log.address.toLowerCase() === token)
  return parseEventLogs({ abi: tokenAbi, logs: own }).map(({ eventName, args, logIndex }) => {
    return { event: eventName, ...args, index: logIndex } as TokenLog
  })
}

function isUsed(chain: Chain, { from, nonce }: Authorization, block: bigint): Promise<boolean> {
  return chain.reader.readContract({
    address: chain.network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [from as Hex, nonce as Hex],
    blockNumber: block,
  })
}

/** A nonce is used or cancelled once, so at most one log is found on any one chain. */
async function nonceLogs(chain: Chain, { from, nonce, sinceBlock }: Authorization) {
  const search = {
    address: chain.network.usdc as Hex,
    args: { authorizer: from as Hex, nonce: nonce as Hex },
    fromBlock: BigInt(sinceBlock),
    strict: true,
  } as const
  const [used, cancelled] = await Promise.all([
    chain.reader.getContractEvents({ ...search, abi: tokenAbi, eventName: 'AuthorizationUsed' }),
    chain.reader.getContractEvents({
      ...search,
      abi: tokenAbi,
      eventName: 'AuthorizationCanceled',
    }),
  ])
  return [...used, ...cancelled]
}
