import { getAddress, type Hex, parseErc6492Signature } from 'viem'
import type { Receipt, Tender, X402Tender } from '../../payments/payment.ts'
import type { Checked, Collected, Rail, Standing } from '../../payments/ports.ts'
import type { Chain } from './clients.ts'
import { type Facilitator, transferOf } from './facilitator.ts'
import { isClosedTo, isSafe, judge, proveByTransaction, receiptOf, wouldRevert } from './proofs.ts'
import type { RefundWallet } from './refunds.ts'
import {
  badPayments,
  deadPayments,
  paidByRefunds,
  reasonOf,
  unreadableSignature,
} from './verdicts.ts'

/**
 * How far back an authorization is looked for that landed before its order was written, because
 * somebody else submitted it. At two seconds a block this is more than the longest validity.
 */
const lookBackBlocks = 3_000

/** After this the chain would not take the authorization any more. */
const settleMarginMs = 4_000

export interface RailDeps {
  readonly chain: Chain
  readonly facilitator: Facilitator
  readonly refunds: RefundWallet
  readonly now: () => Date
}

/** Payment in USDC by x402, scheme `exact`, on one chain. */
export function x402Rail(deps: RailDeps): Rail {
  return {
    check: (tender) => check(deps, tender),
    collect: (tender) => collect(deps, tender),
    standingOf: (tender, receipt) => standingOf(deps, tender, receipt),
    signRefund: (due) => deps.refunds.sign(due),
    payBack: (refund) => deps.refunds.payBack(refund),
  }
}

async function check({ chain, facilitator, refunds }: RailDeps, asked: Tender): Promise<Checked> {
  try {
    const tender = { ...asked, payer: writtenRight(asked.payer) }
    if (!isReadable(tender.signature)) return { outcome: 'bad', ...unreadableSignature }
    // Its money is for refunds only, and a refund to itself would give nothing back.
    if (tender.payer === refunds.address) return { outcome: 'bad', ...paidByRefunds }
    const [head, verified] = await Promise.all([
      chain.reader.getBlockNumber(),
      facilitator.verify(tender),
    ])
    const since = { ...tender, sinceBlock: Math.max(0, Number(head) - lookBackBlocks) }
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
async function explain(chain: Chain, tender: Tender, said: string | undefined): Promise<Checked> {
  const known = badPayments[said ?? '']
  if (known === undefined) return { outcome: 'unknown', reason: said ?? 'no reason given' }
  // A used nonce may be this very payment, submitted by somebody else: then the money is here.
  if (known.code === 'nonce_used' && (await hasLanded(chain, tender))) {
    return { outcome: 'good', tender }
  }
  if (known.code === 'would_fail') {
    // The facilitator says the same of a node that does not answer as of a token that refuses.
    if (!(await wouldRevert(chain, transferOf(tender)))) {
      return { outcome: 'unknown', reason: 'The transfer could not be simulated.' }
    }
    if (await isClosedTo(chain, tender.payTo)) {
      return { outcome: 'unknown', reason: 'USDC takes no transfer to this store just now.' }
    }
  }
  return { outcome: 'bad', ...known }
}

/** An address may come in capitals of any sort; what encodes it for the chain takes the right ones only. */
function writtenRight(address: string): string {
  return getAddress(address.toLowerCase())
}

/** Believes nobody's word for a settlement, not even our facilitator's: only the chain's logs. */
async function collect(deps: RailDeps, tender: Tender): Promise<Collected> {
  const { chain } = deps
  try {
    const submitted = await submit(deps, tender)
    if (submitted) {
      const found = await proveByTransaction(chain, submitted, expectedOf(tender))
      if (found) return { outcome: 'settled', receipt: { rail: 'x402', ...found } }
    }
    const judged = await judge(chain, { ...expectedOf(tender), ...tender })
    switch (judged.verdict) {
      case 'transferred':
        return { outcome: 'settled', receipt: { rail: 'x402', ...judged.found } }
      case 'dead':
        return { outcome: 'failed', ...deadPayments[judged.cause] }
      case 'open':
        return { outcome: 'unknown', reason: 'The chain has not said yet.' }
    }
  } catch (error) {
    return { outcome: 'unknown', reason: reasonOf(error) }
  }
}

/** Sends the authorization to the chain while it can still land. Its answer is only a hint. */
async function submit(deps: RailDeps, tender: Tender): Promise<Hex | undefined> {
  if (deps.now().getTime() > tender.validBefore * 1_000 - settleMarginMs) return undefined
  try {
    return await deps.facilitator.settle(tender)
  } catch {
    // The reply was lost, not necessarily the payment. The logs are asked next, and they decide.
    return undefined
  }
}

async function standingOf({ chain }: RailDeps, _: Tender, receipt: Receipt): Promise<Standing> {
  try {
    if (!(await isSafe(chain, receipt.block))) return 'not_yet'
    const mined = await receiptOf(chain, receipt.transaction as Hex)
    return mined?.status === 'success' ? 'final' : 'gone'
  } catch {
    return 'unknown'
  }
}

async function hasLanded(chain: Chain, tender: Tender): Promise<boolean> {
  const judged = await judge(chain, { ...expectedOf(tender), ...tender })
  return judged.verdict === 'transferred'
}

function expectedOf(tender: X402Tender) {
  return { from: tender.payer, to: tender.payTo, value: tender.amount, nonce: tender.nonce }
}
