import { getAddress, type Hex, parseAbi, parseErc6492Signature } from 'viem'
import { maxValiditySeconds, minValiditySeconds } from '../../payments/acceptance.ts'
import type { X402Payment } from '../../payments/payment.ts'
import type { Checked } from '../../payments/ports.ts'
import type { Expected } from '../../payments/proof.ts'
import { blockAt } from './block-times.ts'
import type { Chain, ChainNode } from './clients.ts'
import { type Facilitator, transferOf } from './facilitator.ts'
import { headAgeOf } from './facts.ts'
import { isSilence } from './faults.ts'
import { isSignedByPayer } from './plain-payments.ts'
import { isClosedTo, type Verdict, wouldRevert } from './proofs.ts'
import type { RefundWallet } from './refunds.ts'
import { authorizationHash } from './typed-data.ts'
import { isUsedAt } from './uses.ts'
import {
  badPayments,
  inconsistentWallet,
  ownReasons,
  paidByRefunds,
  reasonOf,
  unreadableSignature,
} from './verdicts.ts'
import type { Evidence } from './witnesses.ts'

export interface CheckDeps {
  readonly chain: Chain
  readonly evidence: Evidence
  readonly facilitator: Facilitator
  readonly refunds: Pick<RefundWallet, 'address'>
  /** The clock of this machine. A block's own time is compared with it, and nothing is proven by it. */
  readonly now: () => Date
  /** Payments are not judged by a chain whose newest block is older than this. */
  readonly maxHeadSeconds: number
}

/**
 * How long after its end a payment that is on the chain and on no record still opens its order. A
 * database that fails over may lose its newest writes; whoever paid then sends the same request
 * again soon. Later, anybody may have read the authorization from the chain, and the record is
 * mended by the reconciliation.
 */
const lostRecordSeconds = 3_600

/** How far the clock of the chain, or of a payer, may be from ours. */
const clockSlackSeconds = 120

export async function check(deps: CheckDeps, asked: X402Payment): Promise<Checked<X402Payment>> {
  const { chain, refunds } = deps
  const left = asked.validBefore - deps.now().getTime() / 1_000
  try {
    const tender = { ...asked, payer: writtenRight(asked.payer) }
    if (!isReadable(tender.signature)) {
      return await unlessUsed(deps, tender, { outcome: 'bad', ...unreadableSignature })
    }
    // Its money is for refunds only, and a refund to itself would give nothing back.
    if (tender.payer === refunds.address) return { outcome: 'bad', ...paidByRefunds }
    const head = chain.recentHead()
    const looking =
      left < minValiditySeconds ? explainLate(deps, tender, left) : judgeFresh(deps, tender)
    const [{ timestamp }, checked] = await ended([head, looking])
    // A balance of long ago is no balance, and a settlement would not land in time.
    const age = headAgeOf({ timestamp }, deps.now())
    if (age <= deps.maxHeadSeconds) return checked
    return unknown(`The newest block is ${Math.round(age)} s old.`)
  } catch (error) {
    return unknown(reasonOf(error))
  }
}

async function judgeFresh(deps: CheckDeps, tender: X402Payment): Promise<Checked<X402Payment>> {
  const { chain, evidence, facilitator } = deps
  // Asked before anybody outside sees the payment.
  if (!(await evidence.couldBearOut(tender.amount))) {
    return unknown('No witness answers, and one must see this payment.', 'no')
  }
  const [sinceBlock, verified] = await ended([chain.lookBackTo(), facilitator.verify(tender)])
  const since = { ...tender, sinceBlock }
  if (verified.isValid) return { outcome: 'good', tender: since }
  return explain(deps, since, verified.invalidReason)
}

/** All results, or a failure, once all have ended: no question of one payment is shared by the next. */
async function ended<T extends readonly Promise<unknown>[]>(all: readonly [...T]) {
  await Promise.allSettled(all)
  return Promise.all(all)
}

/** The facilitator fails at a signature that is cut off inside, which looks like a failure of ours. */
function isReadable(signature: string): boolean {
  try {
    parseErc6492Signature(signature as Hex)
    return true
  } catch {
    return false
  }
}

/** What a facilitator's no means. Only what is the payer's own doing is a bad payment. */
async function explain(
  deps: CheckDeps,
  tender: X402Payment,
  said: string | undefined,
): Promise<Checked<X402Payment>> {
  if (said === ownReasons.too_dear) {
    const reason = 'The network fee is higher than the store pays.'
    return { ...unknown(reason), isTooCostly: true }
  }
  const known = badPayments[said ?? '']
  if (known === undefined) return unknown(said ?? 'no reason given')
  const bad = { outcome: 'bad', ...known } as const
  if (!afterPayment.has(known.code)) return unlessUsed(deps, tender, bad)
  const judged = await deps.evidence.judge(authorizationOf(tender))
  if (!wasUnused(judged)) return explainUsed(tender, judged)
  // One backend said that it is used, and another that it is not.
  if (known.code === nonceUsed.code) return unknown(hidden)
  return said === 'invalid_exact_evm_transaction_simulation_failed'
    ? explainRefusal(deps.chain, tender, bad)
    : bad
}

/** What is wrong with a payment now says nothing of the time before: it may have paid. */
async function unlessUsed(
  { chain }: CheckDeps,
  tender: X402Payment,
  bad: Bad,
): Promise<Checked<X402Payment>> {
  return (await lookForUse(chain, tender)).isUsed ? unknown(hidden) : bad
}

/** Asked at the newest block of all: one of a second ago would not show what has just been paid. */
async function lookForUse(chain: Chain, tender: X402Payment) {
  const head = await chain.reader.getBlock()
  return { head, isUsed: await isUsedAt(chain, authorizationOf(tender), head.number) }
}

/** Whether the newest block of a node that is not behind says that the authorization was not used. */
export async function isUnused(
  { chain, now, maxHeadSeconds }: CheckDeps,
  asked: X402Payment,
): Promise<boolean> {
  try {
    const tender = { ...asked, payer: writtenRight(asked.payer) }
    const { head, isUsed } = await lookForUse(chain, tender)
    return !isUsed && headAgeOf(head, now()) <= maxHeadSeconds
  } catch {
    return false
  }
}

/** What a payment looks like as well that has paid already: its nonce is used and its money is gone. */
const nonceUsed = badPayments['invalid_exact_evm_nonce_already_used'] as Omit<Bad, 'outcome'>
const afterPayment = new Set([nonceUsed.code, 'insufficient_balance', 'would_fail'])

const hidden = 'The node does not show what the nonce was used for.'

type Bad = Extract<Checked, { outcome: 'bad' }>

/**
 * A used nonce may be this very payment, submitted by somebody else or by us before the record of it
 * was lost: then the money is here, and nobody may be asked for it again.
 */
function explainUsed(tender: X402Payment, judged: Verdict): Checked<X402Payment> {
  if (judged.verdict === 'transferred') return { outcome: 'good', tender, hasLanded: true }
  const isSpent = judged.verdict === 'dead' || judged.soFar === 'spent'
  return isSpent ? { outcome: 'bad', ...nonceUsed } : unknown(hidden)
}

/**
 * An authorization that has ended, or ends before a settlement would be in a block. What it may cost
 * is bounded: anybody can send one, with any times and with a nonce that somebody else has used. So
 * only what its payer has signed is searched for, and only while it may still open its order.
 */
async function explainLate(
  deps: CheckDeps,
  tender: X402Payment,
  left: number,
): Promise<Checked<X402Payment>> {
  const isSought = left > -lostRecordSeconds && (await isSigned(deps.chain, tender))
  const sinceBlock = isSought ? await earliestBlock(deps, tender) : undefined
  const judged = await deps.evidence.judge({ ...authorizationOf(tender), sinceBlock })
  // What has ended is unused for good only where the chain proves it: it may be on its way to a block.
  if (wasUnused(judged) && (judged.verdict === 'dead' || left > 0)) return tooLate(left)
  return judged.verdict === 'transferred'
    ? { outcome: 'good', tender: { ...tender, sinceBlock: judged.found.block }, hasLanded: true }
    : explainUsed(tender, judged)
}

/** No payment that we have taken can be in a block before this one. */
async function earliestBlock({ chain }: CheckDeps, { validBefore }: X402Payment): Promise<number> {
  const earliest = validBefore - maxValiditySeconds - clockSlackSeconds
  return blockAt(chain, earliest, await chain.recentHead())
}

function wasUnused(judged: Verdict): boolean {
  if (judged.verdict === 'dead') return judged.cause === 'expired'
  return judged.verdict === 'open' && judged.soFar === 'unused'
}

function tooLate(left: number): Bad {
  const seconds = Math.max(0, Math.floor(left))
  const reason = `the authorization ends in ${seconds} s; it must hold for at least ${minValiditySeconds} s`
  return { outcome: 'bad', code: 'expired', reason }
}

/**
 * The facilitator says the same of a node that does not answer as of a token that refuses. A contract
 * that signs for the payer may answer as it likes, by the gas it is given or by who asks: one that the
 * facilitator saw refuse and that agrees now is refused for good, because no node is at fault.
 */
async function explainRefusal(
  chain: Chain,
  tender: X402Payment,
  bad: Bad,
): Promise<Checked<X402Payment>> {
  if (!(await wouldRevert(chain, transferOf(tender)))) {
    const code = await chain.reader.getCode({ address: tender.payer as Hex })
    return code === undefined
      ? unknown('The transfer could not be simulated.')
      : { outcome: 'bad', ...inconsistentWallet }
  }
  return (await isClosedTo(chain, tender.payTo))
    ? unknown('USDC takes no transfer to this store just now.')
    : bad
}

/** An address may come in capitals of any sort; what encodes it for the chain takes the right ones only. */
export function writtenRight(address: string): string {
  return getAddress(address.toLowerCase())
}

function unknown(reason: string, charged: 'no' | 'unknown' = 'unknown') {
  return { outcome: 'unknown', reason, charged } as const
}

export function expectedOf(tender: X402Payment): Expected {
  return { from: tender.payer, to: tender.payTo, value: tender.amount, nonce: tender.nonce }
}

function authorizationOf(tender: X402Payment) {
  return { ...expectedOf(tender), ...tender }
}

const walletAbi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** What a wallet with code answers to a signature of its own (ERC-1271). */
const valid = '0x1626ba7e'

/**
 * Whether the payer has signed: its own key, which is arithmetic, or its code, which one question to
 * the node tells.
 *
 * @throws when the node does not say
 */
async function isSigned({ network, reader }: ChainNode, tender: X402Payment): Promise<boolean> {
  if (isSignedByPayer(network, tender)) return true
  const { signature } = parseErc6492Signature(tender.signature as Hex)
  const hash = authorizationHash(network, transferOf(tender))
  const question = { abi: walletAbi, functionName: 'isValidSignature' } as const
  try {
    const address = tender.payer as Hex
    return (await reader.readContract({ ...question, address, args: [hash, signature] })) === valid
  } catch (error) {
    if (isSilence(error)) throw error
    return false
  }
}
