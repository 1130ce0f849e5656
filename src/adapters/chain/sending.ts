import { setTimeout as delay } from 'node:timers/promises'
import { recover } from 'tiny-secp256k1'
import {
  BaseError,
  bytesToHex,
  type Hex,
  hexToBytes,
  keccak256,
  type TransactionReceipt,
} from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { getTransactionError, parseAccount } from 'viem/utils'
import { type Chain, type Fees, receiptOf } from './clients.ts'

export const tooDear = 'The network fee is higher than the store pays.'

interface Call {
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
}

export interface Sending {
  readonly withinMs: number
  readonly waits?: number
}

export interface Sent {
  /** The transaction that is in a block; otherwise the last one that was sent. */
  readonly hash: Hex
  readonly receipt: TransactionReceipt | undefined
}

interface Broadcast {
  readonly hash: Hex
  readonly nonce: number
  readonly fees: Fees
}

const maxNumbers = 12
const maxRaises = 4

/** A stuck one, ours or another that holds it up, is replaced: harmless only for calls that take effect once. */
export async function sendCall(
  chain: Chain,
  call: Call,
  { withinMs, waits = 3 }: Sending,
): Promise<Sent> {
  const all = [await sendFirst(chain, call)]
  try {
    for (let wait = 1; ; wait += 1) {
      const receipt = await waitForAny(chain, all, withinMs / waits)
      if (receipt) return { hash: receipt.transactionHash, receipt }
      const last = all.at(-1) as Broadcast
      if (wait === waits) return { hash: last.hash, receipt }
      // A push that fails or is slow changes nothing: the transaction is already on its way.
      const pushing = push(chain, call, last).catch(() => undefined)
      const pushed = await Promise.race([pushing, delay(withinMs / waits)])
      if (pushed) all.push(pushed)
    }
  } finally {
    for (const { nonce } of all) chain.nonces.giveBack(nonce)
  }
}

async function sendFirst(chain: Chain, call: Call): Promise<Broadcast> {
  const fees = await chain.fees()
  for (let attempt = 1; ; attempt += 1) {
    const nonce = await chain.nonces.reserve()
    try {
      return await broadcast(chain, call, nonce, fees)
    } catch (error) {
      if (
        attempt === maxNumbers ||
        !saysAny(error, /nonce (is )?too low|replacement.*underpriced/i)
      ) {
        chain.nonces.giveBack(nonce)
        throw error
      }
      chain.nonces.yieldTo(nonce)
    }
  }
}

async function push(chain: Chain, call: Call, last: Broadcast): Promise<Broadcast | undefined> {
  const { address } = chain.gasAccount
  const nextNonce = await chain.reader.getTransactionCount({ address, blockTag: 'latest' })
  // Its nonce is used. If it is in no block itself, another transaction has taken its place.
  if (last.nonce < nextNonce) {
    return (await receiptOf(chain, last.hash)) ? undefined : sendFirst(chain, call)
  }
  if (last.nonce > nextNonce && chain.nonces.isOurs(nextNonce)) return undefined
  return replace(chain, call, nextNonce, last.fees)
}

/** Nodes accept another transaction under the same nonce only if it pays clearly more. */
async function replace(chain: Chain, call: Call, nonce: number, paid: Fees): Promise<Broadcast> {
  const estimate = await chain.reader.estimateFeesPerGas()
  let fees = atLeast(estimate, times(paid, 5n, 4n))
  for (let raised = 1; ; raised += 1) {
    try {
      return await broadcast(chain, call, nonce, fees)
    } catch (error) {
      if (raised === maxRaises || !saysAny(error, /underpriced/i)) throw error
      fees = times(fees, 2n, 1n)
    }
  }
}

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

/** Polls often at first: the next block may come right after the transaction. */
async function waitForAny(
  chain: Chain,
  all: readonly Broadcast[],
  withinMs: number,
): Promise<TransactionReceipt | undefined> {
  const deadline = performance.now() + withinMs
  for (let pauseMs = chain.pollMs / 8; ; pauseMs = Math.min(2 * pauseMs, chain.pollMs)) {
    const results = await Promise.all(
      all.map(({ hash }) => receiptOf(chain, hash).catch(() => undefined)),
    )
    const receipts = results.filter((receipt) => receipt !== undefined)
    // If two are in blocks, the second one is reverted, because the first has done the work.
    const done = receipts.find(({ status }) => status === 'success') ?? receipts[0]
    if (done) return done
    if (performance.now() + pauseMs > deadline) return undefined
    await delay(pauseMs)
  }
}

/** Nodes distinguish these errors only by their messages. */
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

// For each payment, forged or not: libsecp256k1 as WebAssembly takes a quarter of the time of the arithmetic in viem.

/** Undefined if no key can have signed; a contract may have. @param signature 65 bytes: r, s, and 0, 1, 27 or 28 */
export function signerOf(hash: Hex, signature: Hex): Hex | undefined {
  try {
    const bytes = hexToBytes(signature)
    const last = bytes[64] ?? -1
    if (bytes.length !== 65 || ![0, 1, 27, 28].includes(last)) return undefined
    const parity = (last % 27) as 0 | 1
    const publicKey = recover(hexToBytes(hash), bytes.subarray(0, 64), parity, false)
    return publicKey ? publicKeyToAddress(bytesToHex(publicKey)) : undefined
  } catch {
    return undefined
  }
}
