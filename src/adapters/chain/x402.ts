import { getAddress, type Hex, parseAbi, parseErc6492Signature } from 'viem'
import { never } from '../../lib/errors.ts'
import type {
  Checked,
  Collected,
  Confirmation,
  Expected,
  Listing,
  X402Method,
  X402Payment,
  X402Receipt,
} from '../../payments/payment.ts'
import { maxValiditySeconds, minValiditySeconds } from '../../payments/terms.ts'
import { blockAt, type Chain, type ChainNode, headAgeOf } from './clients.ts'
import type { Facilitator, Submitted } from './facilitator.ts'
import {
  type Evidence,
  isClosedTo,
  isUsedAt,
  maxStepMs,
  type ProvenTransfer,
  proveByTransaction,
  type Verdict,
  withinStep,
  wouldRevert,
} from './proofs.ts'
import type { RefundWallet } from './refunds.ts'
import { checksAtOnce, isSilence } from './rpc.ts'
import { authorizationHash, isSignedByPayer, transferOf } from './token.ts'
import {
  badPayments,
  deadPayments,
  inconsistentWallet,
  ownReasons,
  paidByRefunds,
  reasonOf,
  unreadableSignature,
} from './verdicts.ts'

const tooSlow = 'The node answers too slowly.'

const settleMarginMs = 4_000

export interface X402Deps {
  readonly chain: Chain
  readonly evidence: Evidence
  readonly facilitator: Facilitator
  readonly refunds: RefundWallet
  /** The clock of this machine. Block times are compared with it, but it proves nothing. */
  readonly now: () => Date
  readonly maxHeadSeconds: number
}

export function x402Method(deps: X402Deps, stepMs = maxStepMs): X402Method {
  const inTime = <T>(work: Promise<T>, late: T, ms = stepMs) => withinStep(work, late, ms)
  const bounded = checksAtOnce(deps.chain.load)
  return {
    isSignedByPayer: async (payment) =>
      isSignedByPayer(deps.chain.network, { ...payment, payer: writtenRight(payment.payer) }),
    isUnused: (payment) =>
      inTime(
        bounded(() => isUnused(deps, payment), false),
        false,
      ),
    check: (payment) =>
      inTime(
        bounded(() => check(deps, payment), unknown('Too many payments are being checked.')),
        unknown(tooSlow),
      ),
    async collect(payment, { listing, onlyLooks } = {}) {
      const startedAt = performance.now()
      const submitted = onlyLooks ? {} : await inTime(submit(deps, payment, listing), {})
      const collected = await inTime(
        prove(deps, payment, submitted),
        { outcome: 'unknown', reason: tooSlow },
        stepMs - (performance.now() - startedAt),
      )
      const { wasted = 0 } = submitted
      return collected.outcome === 'settled' || wasted === 0 ? collected : { ...collected, wasted }
    },
    confirmationOf: (payment, receipt) => inTime(confirmationOf(deps, payment, receipt), 'unknown'),
    signRefund: (due) => deps.refunds.sign(due),
    payBack: (refund) =>
      inTime(deps.refunds.payBack(refund), { outcome: 'pending', reason: tooSlow }),
  }
}

/** Only the chain's logs prove a settlement, whatever a facilitator says. */
async function prove(
  { chain, evidence }: X402Deps,
  payment: X402Payment,
  { hash, receipt }: Submitted,
): Promise<Collected<X402Receipt>> {
  const expected = expectedOf(payment)
  try {
    const transfer = hash && (await proveByTransaction(chain, { hash, receipt }, expected))
    if (transfer) return await settledBy(evidence, transfer, expected)
    const verdict = await evidence.judge({ ...expected, ...payment })
    switch (verdict.verdict) {
      case 'transferred':
        return await settledBy(evidence, verdict.transfer, expected)
      case 'dead':
        return { outcome: 'failed', ...deadPayments[verdict.cause] }
      case 'open':
        return { outcome: 'unknown', reason: 'The chain has not said yet.' }
      default:
        return never(verdict)
    }
  } catch (error) {
    return { outcome: 'unknown', reason: reasonOf(error) }
  }
}

async function settledBy(
  evidence: Evidence,
  transfer: ProvenTransfer,
  expected: Expected,
): Promise<Collected<X402Receipt>> {
  return (await evidence.bearsOut(transfer, expected))
    ? { outcome: 'settled', receipt: { method: 'x402', ...transfer } }
    : { outcome: 'unknown', reason: 'No witness has seen the payment yet.' }
}

/** Sends the authorization to the chain while it can still land. What a facilitator answers is only a hint. */
async function submit(
  deps: X402Deps,
  payment: X402Payment,
  listing: Listing | undefined,
): Promise<Submitted> {
  if (deps.now().getTime() > payment.validBefore * 1_000 - settleMarginMs) return {}
  try {
    return await deps.facilitator.settle(payment, listing)
  } catch {
    return {}
  }
}

async function confirmationOf(
  { evidence }: X402Deps,
  payment: X402Payment,
  receipt: X402Receipt,
): Promise<Confirmation> {
  try {
    return await evidence.confirmationOf(receipt, { ...expectedOf(payment), ...payment })
  } catch {
    return 'unknown'
  }
}

/** So long a payment on the chain and not on record opens its order. Later, anybody may have read it from the chain. */
const lostRecordSeconds = 3_600

/** How far the clock of the chain, or of a payer, may differ from ours. */
const clockSlackSeconds = 120

async function check(deps: X402Deps, rawPayment: X402Payment): Promise<Checked<X402Payment>> {
  const { chain, refunds } = deps
  const left = rawPayment.validBefore - deps.now().getTime() / 1_000
  try {
    const payment = { ...rawPayment, payer: writtenRight(rawPayment.payer) }
    if (!isReadable(payment.signature)) {
      return await unlessUsed(deps, payment, { outcome: 'bad', ...unreadableSignature })
    }
    // The refund wallet cannot be a buyer: a refund to itself would give nothing back.
    if (payment.payer === refunds.address) return { outcome: 'bad', ...paidByRefunds }
    const head = chain.recentHead()
    const looking =
      left < minValiditySeconds ? explainLate(deps, payment, left) : judgeFresh(deps, payment)
    const [{ timestamp }, checked] = await ended([head, looking])
    // At an old block, balances are stale and a settlement would not land in time.
    const age = headAgeOf({ timestamp }, deps.now())
    if (age <= deps.maxHeadSeconds) return checked
    return unknown(`The newest block is ${Math.round(age)} s old.`)
  } catch (error) {
    return unknown(reasonOf(error))
  }
}

async function judgeFresh(deps: X402Deps, payment: X402Payment): Promise<Checked<X402Payment>> {
  const { chain, evidence, facilitator } = deps
  // Checked before the payment is sent to anybody, so nobody can have charged it.
  if (!(await evidence.couldBearOut(payment.amount))) {
    return unknown('No witness answers, and one must see this payment.', 'no')
  }
  const [sinceBlock, verified] = await ended([chain.lookBackTo(), facilitator.verify(payment)])
  const since = { ...payment, sinceBlock }
  if (verified.isValid) return { outcome: 'good', payment: since }
  return explain(deps, since, verified.invalidReason)
}

/** All results, or the first failure, once all have ended: no call outlives the check that made it. */
async function ended<T extends readonly Promise<unknown>[]>(all: readonly [...T]) {
  await Promise.allSettled(all)
  return Promise.all(all)
}

/** The facilitator throws at a truncated ERC-6492 signature, which would look like a failure of ours. */
function isReadable(signature: string): boolean {
  try {
    parseErc6492Signature(signature as Hex)
    return true
  } catch {
    return false
  }
}

async function explain(
  deps: X402Deps,
  payment: X402Payment,
  invalidReason: string | undefined,
): Promise<Checked<X402Payment>> {
  if (invalidReason === ownReasons.too_dear) {
    const reason = 'The network fee is higher than the store pays.'
    return { ...unknown(reason), isTooCostly: true }
  }
  const badPayment = badPayments[invalidReason ?? '']
  if (badPayment === undefined) return unknown(invalidReason ?? 'no reason given')
  const bad = { outcome: 'bad', ...badPayment } as const
  if (!afterPayment.has(badPayment.code)) return unlessUsed(deps, payment, bad)
  const verdict = await deps.evidence.judge(authorizationOf(payment))
  if (!wasUnused(verdict)) return explainUsed(payment, verdict)
  // One backend says that the nonce is used, and another that it is not.
  if (badPayment.code === nonceUsed.code) return unknown(hidden)
  return explainRefusal(deps.chain, payment, bad)
}

/** `bad`, unless the nonce is used: a payment that is bad now may have landed before. */
async function unlessUsed(
  { chain }: X402Deps,
  payment: X402Payment,
  bad: Bad,
): Promise<Checked<X402Payment>> {
  return (await lookForUse(chain, payment)).isUsed ? unknown(hidden) : bad
}

/** Asks at the newest block: the shared one of a second ago would not show what has just landed. */
async function lookForUse(chain: Chain, payment: X402Payment) {
  const head = await chain.newestBlock()
  return { head, isUsed: await isUsedAt(chain, authorizationOf(payment), head.number) }
}

async function isUnused(
  { chain, now, maxHeadSeconds }: X402Deps,
  rawPayment: X402Payment,
): Promise<boolean> {
  try {
    const payment = { ...rawPayment, payer: writtenRight(rawPayment.payer) }
    const { head, isUsed } = await lookForUse(chain, payment)
    return !isUsed && headAgeOf(head, now()) <= maxHeadSeconds
  } catch {
    return false
  }
}

/** The refusals that a landed payment gives as well: its nonce is used, and its money has left the wallet. */
const nonceUsed = badPayments['invalid_exact_evm_nonce_already_used'] as Omit<Bad, 'outcome'>
const afterPayment = new Set([nonceUsed.code, 'insufficient_balance', 'would_fail'])

const hidden = 'The node does not show what the nonce was used for.'

type Bad = Extract<Checked, { outcome: 'bad' }>

/** A used nonce may be this very payment, submitted by somebody else, or by us before its record was lost. */
function explainUsed(payment: X402Payment, verdict: Verdict): Checked<X402Payment> {
  if (verdict.verdict === 'transferred') return { outcome: 'good', payment, hasLanded: true }
  const isSpent = verdict.verdict === 'dead' || verdict.soFar === 'spent'
  return isSpent ? { outcome: 'bad', ...nonceUsed } : unknown(hidden)
}

/** Anybody can send one, so the logs are searched only if its payer has signed it and it may still open its order. */
async function explainLate(
  { chain, evidence }: X402Deps,
  payment: X402Payment,
  left: number,
): Promise<Checked<X402Payment>> {
  const isSought = left > -lostRecordSeconds && (await isSigned(chain, payment))
  const earliest = payment.validBefore - maxValiditySeconds - clockSlackSeconds
  const sinceBlock = isSought ? await blockAt(chain, earliest, await chain.recentHead()) : undefined
  const verdict = await evidence.judge({ ...authorizationOf(payment), sinceBlock })
  // After expiry, only the chain proves that it stays unused: it may be on its way into a block.
  if (wasUnused(verdict) && (verdict.verdict === 'dead' || left > 0)) return tooLate(left)
  return verdict.verdict === 'transferred'
    ? {
        outcome: 'good',
        payment: { ...payment, sinceBlock: verdict.transfer.block },
        hasLanded: true,
      }
    : explainUsed(payment, verdict)
}

function wasUnused(verdict: Verdict): boolean {
  if (verdict.verdict === 'dead') return verdict.cause === 'expired'
  return verdict.verdict === 'open' && verdict.soFar === 'unused'
}

function tooLate(left: number): Bad {
  const seconds = Math.max(0, Math.floor(left))
  const reason = `the authorization ends in ${seconds} s; it must hold for at least ${minValiditySeconds} s`
  return { outcome: 'bad', code: 'expired', reason }
}

/** One node may refuse because the payment has landed, and another lack its block, so only an unused nonce counts. */
async function explainRefusal(
  chain: Chain,
  payment: X402Payment,
  bad: Bad,
): Promise<Checked<X402Payment>> {
  const { head, isUsed } = await lookForUse(chain, payment)
  if (isUsed) return unknown(hidden)
  if (!(await wouldRevert(chain, transferOf(payment), head.number))) {
    // The payer's code takes no part in a balance, so there two nodes differ.
    const address = payment.payer as Hex
    const isOwnCode =
      bad.code === 'would_fail' && (await chain.reader.getCode({ address })) !== undefined
    return isOwnCode
      ? { outcome: 'bad', ...inconsistentWallet }
      : unknown('Two looks at the chain differ about this transfer.')
  }
  return (await isClosedTo(chain, payment.payTo))
    ? unknown('USDC takes no transfer to this store just now.')
    : bad
}

/** The address in EIP-55 form: it may come in any case, but viem encodes only a correct checksum. */
function writtenRight(address: string): string {
  return getAddress(address.toLowerCase())
}

function unknown(reason: string, charged: 'no' | 'unknown' = 'unknown') {
  return { outcome: 'unknown', reason, charged } as const
}

function expectedOf(payment: X402Payment): Expected {
  return { from: payment.payer, to: payment.payTo, value: payment.amount, nonce: payment.nonce }
}

function authorizationOf(payment: X402Payment) {
  return { ...expectedOf(payment), ...payment }
}

const walletAbi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

const valid = '0x1626ba7e'

async function isSigned({ network, reader }: ChainNode, payment: X402Payment): Promise<boolean> {
  if (isSignedByPayer(network, payment)) return true
  const { signature } = parseErc6492Signature(payment.signature as Hex)
  const hash = authorizationHash(network, transferOf(payment))
  const question = { abi: walletAbi, functionName: 'isValidSignature' } as const
  try {
    const address = payment.payer as Hex
    return (await reader.readContract({ ...question, address, args: [hash, signature] })) === valid
  } catch (error) {
    if (isSilence(error)) throw error
    return false
  }
}
