import { getAddress, type Hex, parseErc6492Signature } from 'viem'
import type { X402Receipt, X402Tender } from '../../payments/payment.ts'
import type { Checked, Collected, Listing, Rail, Standing } from '../../payments/ports.ts'
import type { Expected } from '../../payments/proof.ts'
import { never } from '../../primitives/never.ts'
import type { Chain } from './clients.ts'
import { type Facilitator, type Submitted, transferOf } from './facilitator.ts'
import { headAgeOf } from './facts.ts'
import { isSignedByPayer } from './plain-payments.ts'
import {
  type Found,
  isClosedTo,
  isSpentOtherwise,
  proveByReceipt,
  proveByTransaction,
  wouldRevert,
} from './proofs.ts'
import type { RefundWallet } from './refunds.ts'
import {
  badPayments,
  deadPayments,
  inconsistentWallet,
  paidByRefunds,
  reasonOf,
  unreadableSignature,
} from './verdicts.ts'
import type { Evidence } from './witnesses.ts'

/**
 * How far back an authorization is looked for that landed before its order was written, because
 * somebody else submitted it. At two seconds a block this is more than the longest validity.
 */
const lookBackBlocks = 3_000

/** After this the chain would not take the authorization any more. */
const settleMarginMs = 4_000

export interface RailDeps {
  readonly chain: Chain
  readonly evidence: Evidence
  readonly facilitator: Facilitator
  readonly refunds: RefundWallet
  /** The clock of this machine. A block's own time is compared with it, and nothing is proven by it. */
  readonly now: () => Date
  /** Payments are not judged by a chain whose newest block is older than this. */
  readonly headMostSeconds: number
}

/** Payment in USDC by x402, scheme `exact`, on one chain. */
export function x402Rail(deps: RailDeps): Rail {
  return {
    isSignedByPayer: async (tender) =>
      isSignedByPayer(deps.chain.network, { ...tender, payer: writtenRight(tender.payer) }),
    check: (tender) => check(deps, tender),
    collect: (tender, listing) => collect(deps, tender, listing),
    standingOf: (tender, receipt) => standingOf(deps, tender, receipt),
    signRefund: (due) => deps.refunds.sign(due),
    payBack: (refund) => deps.refunds.payBack(refund),
  }
}

async function check(deps: RailDeps, asked: X402Tender): Promise<Checked<X402Tender>> {
  const { chain, facilitator, refunds } = deps
  try {
    const tender = { ...asked, payer: writtenRight(asked.payer) }
    if (!isReadable(tender.signature)) return { outcome: 'bad', ...unreadableSignature }
    // Its money is for refunds only, and a refund to itself would give nothing back.
    if (tender.payer === refunds.address) return { outcome: 'bad', ...paidByRefunds }
    const [head, verified] = await Promise.all([chain.recentHead(), facilitator.verify(tender)])
    // A balance of long ago is no balance, and a settlement would not land in time.
    const age = headAgeOf(head, deps.now())
    if (age > deps.headMostSeconds) return { outcome: 'unknown', reason: staleHead(age) }
    const since = { ...tender, sinceBlock: Math.max(0, Number(head.number) - lookBackBlocks) }
    if (verified.isValid) return { outcome: 'good', tender: since }
    return await explain(chain, since, verified.invalidReason)
  } catch (error) {
    return { outcome: 'unknown', reason: reasonOf(error) }
  }
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
  chain: Chain,
  tender: X402Tender,
  said: string | undefined,
): Promise<Checked<X402Tender>> {
  const known = badPayments[said ?? '']
  if (known === undefined) return { outcome: 'unknown', reason: said ?? 'no reason given' }
  const bad = { outcome: 'bad', ...known } as const
  switch (said) {
    case 'invalid_exact_evm_nonce_already_used':
      return explainUsed(chain, tender, bad)
    case 'invalid_exact_evm_transaction_simulation_failed':
      return explainRefusal(chain, tender, bad)
    default:
      return bad
  }
}

/** A used nonce may be this very payment, submitted by somebody else: then the money is here. */
async function explainUsed(
  chain: Chain,
  tender: X402Tender,
  bad: Checked<X402Tender>,
): Promise<Checked<X402Tender>> {
  const isSpent = await isSpentOtherwise(chain, { ...expectedOf(tender), ...tender })
  if (isSpent === undefined) {
    return { outcome: 'unknown', reason: 'The node does not show what the nonce was used for.' }
  }
  return isSpent ? bad : { outcome: 'good', tender }
}

/**
 * The facilitator says the same of a node that does not answer as of a token that refuses. A contract
 * that signs for the payer may answer as it likes, by the gas it is given or by who asks: one that the
 * facilitator saw refuse and that agrees now is refused for good, because no node is at fault.
 */
async function explainRefusal(
  chain: Chain,
  tender: X402Tender,
  bad: Checked<X402Tender>,
): Promise<Checked<X402Tender>> {
  if (!(await wouldRevert(chain, transferOf(tender)))) {
    const code = await chain.reader.getCode({ address: tender.payer as Hex })
    return code === undefined
      ? { outcome: 'unknown', reason: 'The transfer could not be simulated.' }
      : { outcome: 'bad', ...inconsistentWallet }
  }
  return (await isClosedTo(chain, tender.payTo))
    ? { outcome: 'unknown', reason: 'USDC takes no transfer to this store just now.' }
    : bad
}

/** An address may come in capitals of any sort; what encodes it for the chain takes the right ones only. */
function writtenRight(address: string): string {
  return getAddress(address.toLowerCase())
}

/** Believes nobody's word for a settlement, not even our facilitator's: only the chain's logs. */
async function collect(
  deps: RailDeps,
  tender: X402Tender,
  listing?: Listing,
): Promise<Collected<X402Receipt>> {
  const { chain, evidence } = deps
  const expected = expectedOf(tender)
  try {
    const submitted = await submit(deps, tender, listing)
    const found = submitted && (await proofIn(chain, submitted, expected))
    if (found) return await settledBy(evidence, found, expected)
    const judged = await evidence.judge({ ...expected, ...tender })
    switch (judged.verdict) {
      case 'transferred':
        return await settledBy(evidence, judged.found, expected)
      case 'dead':
        return { outcome: 'failed', ...deadPayments[judged.cause] }
      case 'open':
        return { outcome: 'unknown', reason: 'The chain has not said yet.' }
      default:
        return never(judged)
    }
  } catch (error) {
    return { outcome: 'unknown', reason: reasonOf(error) }
  }
}

/** The receipt that our node has shown already says as much as the same one asked for again. */
function proofIn(chain: Chain, { hash, receipt }: Submitted, expected: Expected) {
  return receipt
    ? proveByReceipt(chain, { hash, receipt }, expected)
    : proveByTransaction(chain, hash, expected)
}

async function settledBy(
  evidence: Evidence,
  found: Found,
  expected: Expected,
): Promise<Collected<X402Receipt>> {
  return (await evidence.bearsOut(found, expected))
    ? { outcome: 'settled', receipt: { rail: 'x402', ...found } }
    : { outcome: 'unknown', reason: 'No further node has seen the payment yet.' }
}

/** Sends the authorization to the chain while it can still land. What a facilitator answers is only a hint. */
async function submit(
  deps: RailDeps,
  tender: X402Tender,
  listing?: Listing,
): Promise<Submitted | undefined> {
  if (deps.now().getTime() > tender.validBefore * 1_000 - settleMarginMs) return undefined
  try {
    return await deps.facilitator.settle(tender, listing)
  } catch {
    // The reply was lost, not necessarily the payment. The logs are asked next, and they decide.
    return undefined
  }
}

async function standingOf(
  { evidence }: RailDeps,
  tender: X402Tender,
  receipt: X402Receipt,
): Promise<Standing> {
  try {
    return await evidence.standingOf(receipt, { ...expectedOf(tender), ...tender })
  } catch {
    return 'unknown'
  }
}

function staleHead(age: number): string {
  return `The newest block is ${Math.round(age)} s old.`
}

function expectedOf(tender: X402Tender): Expected {
  return { from: tender.payer, to: tender.payTo, value: tender.amount, nonce: tender.nonce }
}
