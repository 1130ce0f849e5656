import type { Hex } from 'viem'
import type { Receipt, Tender, X402Tender } from '../../payments/payment.ts'
import type { Checked, Collected, Rail, Standing } from '../../payments/ports.ts'
import type { Chain } from './clients.ts'
import { type Facilitator, transferOf } from './facilitator.ts'
import { isSafe, judge, proveByTransaction, receiptOf, wouldRevert } from './proofs.ts'
import type { RefundWallet } from './refunds.ts'
import { badPayments, deadPayments, reasonOf } from './verdicts.ts'

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

async function check({ chain, facilitator }: RailDeps, tender: Tender): Promise<Checked> {
  try {
    const [head, verified] = await Promise.all([
      chain.reader.getBlockNumber(),
      facilitator.verify(tender),
    ])
    const since = { ...tender, sinceBlock: Math.max(0, Number(head) - lookBackBlocks) }
    if (verified.isValid) return { outcome: 'good', tender: since }
    const known = badPayments[verified.invalidReason ?? '']
    if (known === undefined) {
      return { outcome: 'unknown', reason: verified.invalidReason ?? 'no reason given' }
    }
    // A used nonce may be this very payment, submitted by somebody else: then the money is here.
    if (known.code === 'nonce_used' && (await hasLanded(chain, since))) {
      return { outcome: 'good', tender: since }
    }
    // The facilitator says the same of a node that does not answer as of a token that refuses.
    if (known.code === 'would_fail' && !(await wouldRevert(chain, transferOf(since)))) {
      return { outcome: 'unknown', reason: 'The transfer could not be simulated.' }
    }
    return { outcome: 'bad', ...known }
  } catch (error) {
    return { outcome: 'unknown', reason: reasonOf(error) }
  }
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
