import { setTimeout as delay } from 'node:timers/promises'
import { BaseError, type Hex, keccak256, type TransactionReceipt } from 'viem'
import { getTransactionError, parseAccount } from 'viem/utils'
import type { Chain, Fees } from './clients.ts'
import { receiptOf } from './receipts.ts'

export const tooDear = 'The network fee is higher than the store pays.'

/** A call that costs gas, and how much of it at most. */
export interface Call {
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
}

/** How a call is sent. */
export interface Sending {
  /** How long it is waited for until it is in a block. */
  readonly withinMs: number
  /** Told of each transaction that cost us gas and moved nothing. */
  readonly onWasted: () => void
}

export interface Sent {
  /** Where to look for it; the last one when it had to be sent more than once. */
  readonly hash: Hex
  /** What the node said of it when it was in a block; undefined when it was in none in time. */
  readonly receipt: TransactionReceipt | undefined
}

interface Broadcast {
  readonly hash: Hex
  readonly nonce: number
  readonly fees: Fees
}

/** So many numbers are tried when others send with the same key at the same time. */
const maxNumbers = 12
/** The waiting is cut into so many parts; between two of them the transaction is pushed. */
const waits = 3
/** Doubling its fee so often must be enough to take the place of a transaction that is stuck. */
const maxRaises = 4

/**
 * Sends a call with our gas and waits until it is in a block, so that nobody sends it again while
 * it is on its way there. One that stays outside is sent again with a higher fee, in its own place
 * or in the place of whatever holds all of them up. That is harmless only because the token carries
 * out an authorization once, and a factory deploys a wallet once: this is for such calls alone.
 *
 * Not being in a block at the end is no failure: the caller looks at the logs.
 *
 * @throws when the node does not take it at all, or the network asks too much
 */
export async function sendCall(
  chain: Chain,
  call: Call,
  { withinMs, onWasted }: Sending,
): Promise<Sent> {
  const sent = await sendUntilInBlock(chain, call, withinMs)
  if (sent.receipt?.status === 'reverted') onWasted()
  return sent
}

async function sendUntilInBlock(chain: Chain, call: Call, withinMs: number): Promise<Sent> {
  const all = [await sendFirst(chain, call)]
  try {
    for (let wait = 1; ; wait += 1) {
      const receipt = await waitForAny(chain, all, withinMs / waits)
      if (receipt) return { hash: receipt.transactionHash, receipt }
      const last = all.at(-1) as Broadcast
      if (wait === waits) return { hash: last.hash, receipt }
      // Whatever happens while it is pushed, or does not: the transaction is on its way already.
      const pushing = push(chain, call, last).catch(() => undefined)
      const pushed = await Promise.race([pushing, delay(withinMs / waits)])
      if (pushed) all.push(pushed)
    }
  } finally {
    for (const { nonce } of all) chain.nonces.giveBack(nonce)
  }
}

/** Another process may send with the same key: then the number is its, and ours is the next one. */
async function sendFirst(chain: Chain, call: Call): Promise<Broadcast> {
  const fees = await chain.fees()
  for (let tried = 1; ; tried += 1) {
    const nonce = await chain.nonces.take()
    try {
      return await broadcast(chain, call, nonce, fees)
    } catch (error) {
      if (tried === maxNumbers || !isTaken(error)) {
        chain.nonces.giveBack(nonce)
        throw error
      }
      chain.nonces.yieldTo(nonce)
    }
  }
}

/** What is to be done about a transaction that is in no block yet, or undefined: nothing. */
async function push(chain: Chain, call: Call, last: Broadcast): Promise<Broadcast | undefined> {
  const { address } = chain.gasAccount
  const next = await chain.reader.getTransactionCount({ address, blockTag: 'latest' })
  // Its number is used and it is in no block: another transaction has taken its place.
  if (last.nonce < next) {
    return (await receiptOf(chain, last.hash)) ? undefined : sendFirst(chain, call)
  }
  // One of ours goes first and is pushed by who sent it.
  if (last.nonce > next && chain.nonces.isOurs(next)) return undefined
  return replace(chain, call, next, last.fees)
}

/** Nodes take another transaction in the same place when it pays clearly more. */
async function replace(chain: Chain, call: Call, nonce: number, paid: Fees): Promise<Broadcast> {
  const asked = await chain.reader.estimateFeesPerGas()
  let fees = atLeast(asked, times(paid, 5n, 4n))
  for (let raised = 1; ; raised += 1) {
    try {
      return await broadcast(chain, call, nonce, fees)
    } catch (error) {
      if (raised === maxRaises || !isUnderpriced(error)) throw error
      fees = times(fees, 2n, 1n)
    }
  }
}

/** @throws BaseError, of a kind that says what the node found wrong; or when it would cost too much */
async function broadcast(chain: Chain, call: Call, nonce: number, fees: Fees): Promise<Broadcast> {
  const { gasAccount, network, reader } = chain
  const { chainId } = network
  if (call.gas * fees.maxFeePerGas > chain.maxSettlementWei) throw new Error(tooDear)
  const signed = gasAccount.sign({
    type: 'eip1559',
    chainId,
    nonce,
    ...call,
    ...fees,
  })
  const sent = { hash: keccak256(signed), nonce, fees }
  try {
    await reader.sendRawTransaction({ serializedTransaction: signed })
  } catch (error) {
    if (saysAny(error, /already (known|imported)/i)) return sent
    const account = parseAccount(gasAccount.address)
    throw getTransactionError(error as BaseError, { account, nonce, ...call, ...fees })
  }
  return sent
}

/** Looks often at first: the transaction may have come just before its block. */
async function waitForAny(
  chain: Chain,
  all: readonly Broadcast[],
  withinMs: number,
): Promise<TransactionReceipt | undefined> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = chain.pollMs / 8; ; pauseMs = Math.min(2 * pauseMs, chain.pollMs)) {
    const seen = await Promise.all(
      // A node that does not answer just now may do so the next time.
      all.map(({ hash }) => receiptOf(chain, hash).catch(() => undefined)),
    )
    const receipts = seen.filter((receipt) => receipt !== undefined)
    // Of two that were sent the second one is reverted, because the first has done it.
    const done = receipts.find(({ status }) => status === 'success') ?? receipts[0]
    if (done) return done
    if (performance.now() + pauseMs > deadline) return undefined
    await delay(pauseMs)
  }
}

function isTaken(error: unknown): boolean {
  return saysAny(error, /nonce (is )?too low|replacement.*underpriced/i)
}

function isUnderpriced(error: unknown): boolean {
  return saysAny(error, /underpriced/i)
}

/** Nodes tell these apart by their words only. */
function saysAny(error: unknown, words: RegExp): boolean {
  return (
    error instanceof BaseError &&
    error.walk((cause) => cause instanceof BaseError && words.test(cause.details)) !== null
  )
}

function times({ maxFeePerGas, maxPriorityFeePerGas }: Fees, by: bigint, over: bigint): Fees {
  return {
    maxFeePerGas: (maxFeePerGas * by) / over + 1n,
    maxPriorityFeePerGas: (maxPriorityFeePerGas * by) / over + 1n,
  }
}

function atLeast(one: Fees, other: Fees): Fees {
  const most = (a: bigint, b: bigint) => (a > b ? a : b)
  return {
    maxFeePerGas: most(one.maxFeePerGas, other.maxFeePerGas),
    maxPriorityFeePerGas: most(one.maxPriorityFeePerGas, other.maxPriorityFeePerGas),
  }
}
