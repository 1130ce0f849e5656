import { setTimeout as delay } from 'node:timers/promises'
import { type Hex, isHash, parseEventLogs, type TransactionReceipt } from 'viem'
import { type Usdc, usdc } from '../../lib/money.ts'
import { within } from '../../lib/scheduling.ts'
import {
  type Confirmation,
  type Expected,
  type GasPaid,
  provesTransfer,
  type TokenLog,
  type X402Receipt,
} from '../../payments/payment.ts'
import {
  type Blocks,
  type BlockTime,
  blockAt,
  type Chain,
  type ChainNode,
  inPieces,
  isRefusal,
  receiptOf,
  recent,
} from './clients.ts'
import { isRevert } from './rpc.ts'
import {
  cancelledTopic,
  type LogRange,
  type SignedTransfer,
  tokenAbi,
  tokenLogsIn,
  topicOf,
  transferCall,
  usedTopic,
} from './token.ts'

export interface ProvenTransfer {
  readonly transaction: Hex
  readonly block: number
  readonly gas?: GasPaid
}

/** What the chain proves about an authorization. Anything unproven is `open`. */
export type Verdict =
  | {
      readonly verdict: 'transferred'
      readonly transfer: ProvenTransfer
      readonly isSafe: boolean
    }
  /** Proven: it was cancelled, spent on something else, or ran out unused. It will never pay. */
  | { readonly verdict: 'dead'; readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired' }
  | {
      readonly verdict: 'open'
      /** `spent`: on something else, in a block that may be dropped. `hidden`: the node does not show by what. */
      readonly soFar: 'unused' | 'spent' | 'hidden'
    }

interface Authorization extends Expected, Searched {}

export async function proveByTransaction(
  node: ChainNode,
  { hash, receipt }: { readonly hash: Hex; readonly receipt?: TransactionReceipt | undefined },
  expected: Expected,
): Promise<ProvenTransfer | undefined> {
  const transactionReceipt = receipt ?? (await receiptOf(node, hash))
  return transactionReceipt && proves(node, transactionReceipt, expected)
    ? transferOf(node, transactionReceipt)
    : undefined
}

/** Only a block that stays, and whose own time has reached `validBefore`, proves that no payment will come. */
async function judge(node: ChainNode, authorization: Authorization): Promise<Verdict> {
  const [head, safe] = await Promise.all([
    node.newestBlock(),
    node.reader.getBlock({ blockTag: 'safe' }),
  ])
  // Two backends behind one address disagree: the one that returned the newest block lags.
  if (head.number < safe.number) return openVerdict('hidden')
  if (!(await isUsedAt(node, authorization, head.number))) {
    const isOver = safe.timestamp >= BigInt(authorization.validBefore)
    return isOver ? { verdict: 'dead', cause: 'expired' } : openVerdict('unused')
  }
  const use = await findUse(node, authorization, head)
  return use ? judgeUse(node, authorization, use, safe.number) : openVerdict('hidden')
}

/** A log without the receipt of its transaction proves nothing: its block may have been dropped. */
async function judgeUse(
  node: ChainNode,
  authorization: Authorization,
  { transaction, isCancelled }: Use,
  safe: bigint,
): Promise<Verdict> {
  const receipt = await receiptOf(node, transaction)
  if (!receipt) return openVerdict('hidden')
  const transfer = transferOf(node, receipt)
  const isSafe = receipt.blockNumber <= safe && (await isUsedInSafe(node, transfer, authorization))
  if (proves(node, receipt, authorization)) return { verdict: 'transferred', transfer, isSafe }
  if (!isSafe) return openVerdict('spent')
  return { verdict: 'dead', cause: isCancelled ? 'cancelled' : 'spent_elsewhere' }
}

function transferOf(
  { gasAccount, ethPrice }: ChainNode & Partial<Pick<Chain, 'gasAccount' | 'ethPrice'>>,
  receipt: TransactionReceipt,
): ProvenTransfer {
  const { transactionHash: transaction, blockNumber, from, gasUsed, effectiveGasPrice } = receipt
  const transfer = { transaction, block: Number(blockNumber) }
  if (gasAccount?.address.toLowerCase() !== from.toLowerCase()) return transfer
  // The OP Stack adds the fee for data on L1 to the receipts of Ethereum.
  const { l1Fee = 0 } = receipt as { readonly l1Fee?: string | number }
  const [wei, ethUsd] = [gasUsed * effectiveGasPrice + BigInt(l1Fee), ethPrice?.last()]
  return { ...transfer, gas: { wei, ...(ethUsd === undefined ? {} : { ethUsd }) } }
}

function openVerdict(soFar: Extract<Verdict, { verdict: 'open' }>['soFar']): Verdict {
  return { verdict: 'open', soFar }
}

/** The newest block is read before the receipt: a node that learns of the block between the two has not lost it. */
async function confirmationAt(
  node: ChainNode,
  { transaction, block }: ProvenTransfer,
  expected: Authorization,
): Promise<Confirmation> {
  const [head, safe] = await Promise.all([
    node.reader.getBlock(),
    node.reader.getBlock({ blockTag: 'safe' }),
  ])
  const receipt = await receiptOf(node, transaction)
  if (!receipt) return confirmationWithout(node, { transaction, block }, expected, head)
  if (!proves(node, receipt, expected)) return 'gone'
  if (receipt.blockNumber > safe.number) return 'not_yet'
  const transfer = { transaction, block: Number(receipt.blockNumber) }
  return (await isUsedInSafe(node, transfer, expected)) ? 'final' : 'not_yet'
}

/** Gone only if the nonce is unused at a head at least as high as its block, or if another transaction used it. */
async function confirmationWithout(
  node: ChainNode,
  { transaction, block }: ProvenTransfer,
  expected: Authorization,
  head: { readonly number: bigint; readonly timestamp: bigint },
): Promise<Confirmation> {
  if (head.number < BigInt(block)) return 'not_yet'
  if (!(await isUsedAt(node, expected, head.number))) return 'gone'
  const use = await findUse(node, expected, head)
  return use === undefined || use.transaction === transaction ? 'unknown' : 'gone'
}

export async function wouldRevert(
  { network, reader }: ChainNode,
  transfer: SignedTransfer,
  blockNumber: bigint,
): Promise<boolean> {
  try {
    await reader.simulateContract({ ...transferCall(network, transfer), blockNumber })
    return false
  } catch (error) {
    if (isRevert(error)) return true
    throw error
  }
}

export async function isClosedTo({ network, reader }: ChainNode, wallet: string): Promise<boolean> {
  const token = { address: network.usdc as Hex, abi: tokenAbi } as const
  const [isPaused, isBlocked] = await Promise.all([
    reader.readContract({ ...token, functionName: 'paused' }),
    reader.readContract({ ...token, functionName: 'isBlacklisted', args: [wallet as Hex] }),
  ])
  return isPaused || isBlocked
}

function proves(node: ChainNode, receipt: TransactionReceipt, expected: Expected): boolean {
  if (receipt.status !== 'success') return false
  const token = node.network.usdc.toLowerCase()
  const own = receipt.logs.filter((log) => log.address.toLowerCase() === token)
  const logs = parseEventLogs({ abi: tokenAbi, logs: own }).map(({ eventName, args, logIndex }) => {
    return { event: eventName, ...args, index: logIndex } as TokenLog
  })
  return provesTransfer(logs, expected)
}

interface Searched {
  readonly from: string
  readonly nonce: string
  readonly validBefore: number
  /** The first block in which it can have landed; undefined if its use is not to be searched for. */
  readonly sinceBlock: number | undefined
}

interface Use {
  readonly transaction: Hex
  readonly isCancelled: boolean
}

/** @throws if the node does not know the block, or has no state of it */
export function isUsedAt(
  { network, reader }: ChainNode,
  { from, nonce }: Pick<Searched, 'from' | 'nonce'>,
  block: bigint | 'safe' | 'latest' = 'latest',
): Promise<boolean> {
  return reader.readContract({
    address: network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'authorizationState',
    args: [from as Hex, nonce as Hex],
    ...(typeof block === 'string' ? { blockTag: block } : { blockNumber: block }),
  })
}

/** A transfer comes before `validBefore`; a cancellation may come later. */
export async function findUse(
  node: ChainNode,
  searched: Searched,
  head: BlockTime,
): Promise<Use | undefined> {
  const { validBefore, sinceBlock: first } = searched
  if (first === undefined) return undefined
  const newest = Number(head.number)
  const signal = AbortSignal.timeout(maxStepMs)
  const end = await blockAt(node, validBefore, head)
  const useIn = async (blocks: Blocks) => {
    const readUses = (piece: Blocks) => usesIn(node, searched, piece)
    for await (const [use] of inPieces(blocks, readUses, { newestFirst: true, signal }))
      if (use) return use
    return undefined
  }
  return (
    (await useIn({ from: first, to: Math.min(end - 1, newest) })) ??
    (await useIn({ from: Math.max(first, end), to: newest }))
  )
}

/** A lagging backend may show a dropped block below another's safe one, so the backend itself says what is safe. */
export async function isUsedInSafe(
  node: ChainNode,
  { transaction, block }: { readonly transaction: Hex; readonly block: number },
  searched: Searched,
): Promise<boolean> {
  const isShownUpTo = async (to: LogRange['to']) => {
    const uses = await usesIn(node, searched, { from: block, to })
    return uses.some((use) => use.transaction === transaction)
  }
  try {
    return await isShownUpTo('safe')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return (await isUsedAt(node, searched, 'safe')) && (await isShownUpTo(block))
  }
}

async function usesIn(node: ChainNode, { from, nonce }: Searched, range: LogRange): Promise<Use[]> {
  const topics = [[usedTopic, cancelledTopic], topicOf(from), nonce as Hex]
  const logs = await tokenLogsIn(node, range, topics)
  return logs.flatMap(({ topics: [event], transactionHash }) =>
    transactionHash && isHash(transactionHash)
      ? [{ transaction: transactionHash, isCancelled: event === cancelledTopic }]
      : [],
  )
}

/** A lease covers two steps here and one call to the supplier. */
export const maxStepMs = 17_000

export async function withinStep<T>(work: Promise<T>, late: T, maxMs = maxStepMs): Promise<T> {
  const ended = new AbortController()
  const waited = delay(maxMs, late, { signal: ended.signal }).catch(() => late)
  try {
    return await Promise.race([work, waited])
  } finally {
    ended.abort()
  }
}

interface Witnesses {
  readonly isCurrent: (timestamp: bigint) => boolean
  /** Further nodes of the same chain, run by somebody else. If empty, our node alone is believed. */
  readonly nodes: readonly ChainNode[]
  /** From this amount on, our node alone is not believed that money has arrived. */
  readonly from: Usdc
}

export interface Evidence {
  judge(authorization: Authorization): Promise<Verdict>
  /** If not, its money would arrive and its order would wait without end. */
  couldBearOut(amount: Usdc): Promise<boolean>
  maxBorneOut(): Promise<Usdc | undefined>
  bearsOut(transfer: ProvenTransfer, expected: Expected): Promise<boolean>
  bearsOutRefund(transfer: ProvenTransfer, expected: Authorization): Promise<boolean>
  /** `final` only if borne out; `gone` only if every witness says the same. */
  confirmationOf(receipt: X402Receipt, expected: Authorization): Promise<Confirmation>
}

/** A node that lags, is broken or lies most easily shows an absence, so none alone is believed that. */
export function evidenceOf(node: ChainNode, { nodes, from, isCurrent }: Witnesses): Evidence {
  const every = async (check: (witness: ChainNode) => Promise<boolean>) =>
    (await askWitnesses(nodes, check)).every(Boolean)
  const some = async (check: (witness: ChainNode) => Promise<boolean>) =>
    nodes.length === 0 || (await askWitnesses(nodes, check)).some(Boolean)

  const looks = nodes.map((witness) => recent(lookMaxAgeMs, () => lookAt(witness, isCurrent)))
  const someIsWell = async () => {
    const ends = await Promise.allSettled(looks.map((look) => within(maxLookMs, look(), 'late')))
    return ends.length === 0 || ends.some(({ status }) => status === 'fulfilled')
  }

  const bearsOut: Evidence['bearsOut'] = async ({ transaction }, expected) =>
    expected.value < from ||
    some(async (witness) => {
      return (await proveByTransaction(witness, { hash: transaction }, expected)) !== undefined
    })

  const stands = (
    confirmation: Confirmation,
    transfer: ProvenTransfer,
    expected: Authorization,
  ) => {
    return async (witness: ChainNode) =>
      (await confirmationAt(witness, transfer, expected)) === confirmation
  }

  return {
    couldBearOut: async (amount) => amount < from || someIsWell(),

    maxBorneOut: async () => ((await someIsWell()) ? undefined : usdc(from > 0n ? from - 1n : 0n)),

    async judge(authorization) {
      const verdict = await judge(node, authorization)
      if (verdict.verdict !== 'dead') return verdict
      const isAgreed = await every(async (witness) => {
        const other = await judge(witness, authorization)
        return other.verdict === 'dead' && other.cause === verdict.cause
      })
      return isAgreed ? verdict : { verdict: 'open', soFar: 'hidden' }
    },

    bearsOut,

    bearsOutRefund: (transfer, expected) => some(stands('final', transfer, expected)),

    async confirmationOf({ transaction, block }, expected) {
      const transfer = { transaction, block } as ProvenTransfer
      const confirmation = await confirmationAt(node, transfer, expected)
      if (confirmation === 'gone') {
        return (await every(stands('gone', transfer, expected))) ? 'gone' : 'unknown'
      }
      if (confirmation !== 'final' || expected.value < from) return confirmation
      return (await some(stands('final', transfer, expected))) ? 'final' : 'not_yet'
    },
  }
}

/** A slower answer is not waited for, because the store decides every few seconds whether it sells. */
const maxLookMs = 3_000
const lookMaxAgeMs = 10_000

/** @throws unless the node serves what bears out a payment: a current block, the safe one, logs and receipts */
async function lookAt(witness: ChainNode, isCurrent: Witnesses['isCurrent']): Promise<void> {
  const [head, safe] = await Promise.all([
    witness.reader.getBlock(),
    witness.reader.getBlock({ blockTag: 'safe' }),
  ])
  const isBehind = !isCurrent(head.timestamp) || head.number < safe.number
  if (isBehind) throw new Error('The newest block of a witness is old.')
  await tokenLogsIn(witness, { from: Number(safe.number), to: 'safe' }, [usedTopic])
  // On Base every block has a transaction; for an empty block there is no receipt to show.
  const [transaction] = safe.transactions
  if (transaction === undefined || (await receiptOf(witness, transaction))) return
  throw new Error('A witness has a block and no receipt of it.')
}

function askWitnesses(
  nodes: readonly ChainNode[],
  check: (witness: ChainNode) => Promise<boolean>,
): Promise<boolean[]> {
  return Promise.all(nodes.map((witness) => check(witness).catch(() => false)))
}
