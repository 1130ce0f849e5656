import { type Hex, numberToHex } from 'viem'
import type { Tamper } from '../../src/adapters/chain/chain.fixture.ts'

/** Habits of RPC providers that a node of one's own does not have. */
export interface ProviderHabits {
  /** The largest range of blocks in a request for logs, and how it refuses a larger one. */
  readonly logRange?: { readonly blocks: number; readonly refusal: LogRefusal }
  /** Several nodes that answer in turn, each this many blocks behind the newest. */
  readonly backends?: readonly number[]
  /** Finds no receipts, although it has blocks and logs. */
  readonly hidesReceipts?: boolean
  /** The number of newest blocks whose states it has. */
  readonly stateBlocks?: number
  /** Knows the block tag `safe`, but not in requests for logs. */
  readonly noSafeLogs?: boolean
  /** How many blocks `safe` is behind the newest. */
  readonly safeLag?: number
  /** Shows each block of the node as this many, because a test cannot wait for so many real ones. */
  readonly stretch?: number
}

/** The errors of providers for too large a range of blocks. */
const logRefusals = {
  code: { error: { code: -32_005, message: 'query returned more than 10000 results' } },
  range: { error: { code: -32_600, message: 'eth_getLogs is limited to a smaller block range' } },
  parameter: { error: { code: -32_602, message: 'exceed maximum block range' } },
  http400: { status: 400 },
  http413: { status: 413 },
} as const
/** The error of nodes that accept only a block number, not a tag. */
const unknownTag = {
  error: { code: -32_602, message: 'invalid argument 0: hex string without 0x prefix' },
}
type LogRefusal = keyof typeof logRefusals

/** For `startNodeBefore`: makes the node at this URL answer like such a provider. */
export function providerOf(rpcUrl: string, habits: ProviderHabits): Tamper {
  const { backends = [0] } = habits
  let asked = 0
  return async (method, params) => {
    asked += 1
    const lag = backends[asked % backends.length] ?? 0
    const answerOf = answers[method]
    if (answerOf === undefined) return undefined
    const { result } = await ask(rpcUrl, 'eth_blockNumber', [])
    const stretch = habits.stretch ?? 1
    return answerOf({ habits, head: Number(result) * stretch - lag, stretch, rpcUrl }, params)
  }
}

interface Answer {
  readonly result?: unknown
  readonly error?: unknown
}

async function ask(rpcUrl: string, method: string, params: readonly unknown[]): Promise<Answer> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as Answer
  return error === undefined ? { result } : { error }
}

interface View {
  readonly habits: ProviderHabits
  /** The newest block of the backend that answers. */
  readonly head: number
  readonly stretch: number
  readonly rpcUrl: string
}

type AnswerOf = (view: View, params: readonly unknown[]) => unknown

const answers: Readonly<Record<string, AnswerOf>> = {
  eth_blockNumber: ({ head }) => ({ result: numberToHex(head) }),

  async eth_getBlockByNumber(view, [tag, full]) {
    const number = numberOf(view, tag)
    if (number > view.head) return { result: null }
    const params = [realOf(view, number), full]
    const { result, error } = await ask(view.rpcUrl, 'eth_getBlockByNumber', params)
    if (error !== undefined) return { error }
    return { result: { ...(result as object), number: numberToHex(number) } }
  },

  async eth_getTransactionReceipt(view, params) {
    if (view.habits.hidesReceipts) return { result: null }
    const { result } = await ask(view.rpcUrl, 'eth_getTransactionReceipt', params)
    if (!result) return { result: null }
    const receipt = shown(view, result as InBlock)
    return { result: Number(receipt.blockNumber) <= view.head ? receipt : null }
  },

  eth_call(view, [call, tag = 'latest', ...rest]) {
    const number = numberOf(view, tag)
    if (number > view.head) return { error: { code: -32_000, message: 'header not found' } }
    const { stateBlocks = Number.POSITIVE_INFINITY } = view.habits
    if (number <= view.head - stateBlocks) {
      return { error: { code: -32_000, message: 'missing trie node: state is not available' } }
    }
    return ask(view.rpcUrl, 'eth_call', [call, realOf(view, number), ...rest])
  },

  async eth_getLogs(view, [filter]) {
    const { fromBlock, toBlock, ...asked } = filter as { fromBlock: Hex; toBlock: Hex | 'safe' }
    if (view.habits.noSafeLogs && toBlock === 'safe') return unknownTag
    const [from, to] = [numberOf(view, fromBlock), numberOf(view, toBlock)]
    const { logRange } = view.habits
    if (logRange && to - from + 1 > logRange.blocks) return logRefusals[logRange.refusal]
    // A node that is behind answers for the blocks that it has, without saying so.
    if (from > view.head) return { result: [] }
    const known = {
      fromBlock: realOf(view, from + view.stretch - 1),
      toBlock: realOf(view, Math.min(to, view.head)),
    }
    if (Number(known.fromBlock) > Number(known.toBlock)) return { result: [] }
    const answer = await ask(view.rpcUrl, 'eth_getLogs', [{ ...asked, ...known }])
    return { result: (answer.result as InBlock[]).map((log) => shown(view, log)) }
  },
}

interface InBlock {
  readonly blockNumber: Hex
}

function shown<T extends InBlock>({ stretch }: View, found: T): T {
  return { ...found, blockNumber: numberToHex(Number(found.blockNumber) * stretch) }
}

/** The real block of the node that is shown with this number. */
function realOf({ stretch }: View, number: number): Hex {
  return numberToHex(Math.floor(number / stretch))
}

function numberOf({ head, stretch, habits: { safeLag = stretch } }: View, tag: unknown): number {
  if (tag === 'latest' || tag === 'pending') return head
  if (tag === 'safe' || tag === 'finalized') return Math.max(0, head - safeLag)
  return Number(tag)
}
