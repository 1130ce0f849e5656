import { never } from '../../lib/never.ts'
import type { X402Payment, X402Receipt } from '../../payments/payment.ts'
import type { Checked, Collected, Collecting, Confirmation, Rail } from '../../payments/ports.ts'
import type { Expected } from '../../payments/proof.ts'
import { type CheckDeps, check, expectedOf, isUnused, writtenRight } from './checking.ts'
import type { Chain } from './clients.ts'
import type { Settling, Submitted } from './facilitator.ts'
import { checksAtOnce } from './node-load.ts'
import { isSignedByPayer } from './plain-payments.ts'
import { type ProvenTransfer, proveByReceipt, proveByTransaction } from './proofs.ts'
import type { RefundWallet } from './refunds.ts'
import { deadPayments, reasonOf } from './verdicts.ts'
import { withinStep } from './within-step.ts'
import type { Evidence } from './witnesses.ts'

const tooSlow = 'The node answers too slowly.'

/** An authorization that expires sooner than this would not land any more, so it is not sent. */
const settleMarginMs = 4_000

export interface RailDeps extends CheckDeps {
  readonly refunds: RefundWallet
}

/** Payment in USDC by x402, scheme `exact`, on one chain. */
export function x402Rail(deps: RailDeps): Rail {
  const bounded = checksAtOnce(deps.chain.load)
  return {
    isSignedByPayer: async (tender) =>
      isSignedByPayer(deps.chain.network, { ...tender, payer: writtenRight(tender.payer) }),
    isUnused: (tender) =>
      withinStep(
        bounded(() => isUnused(deps, tender), false),
        false,
      ),
    check: (tender) =>
      withinStep(
        bounded(() => check(deps, tender), unchecked('Too many payments are being checked.')),
        unchecked(tooSlow),
      ),
    collect: (tender, how) =>
      withCosts((onWasted) =>
        withinStep(collect(deps, tender, onWasted, how), { outcome: 'unknown', reason: tooSlow }),
      ),
    confirmationOf: (tender, receipt) =>
      withinStep(confirmationOf(deps, tender, receipt), 'unknown'),
    signRefund: (due) => deps.refunds.sign(due),
    payBack: (refund) =>
      withinStep(deps.refunds.payBack(refund), { outcome: 'pending', reason: tooSlow }),
  }
}

function unchecked(reason: string): Checked<X402Payment> {
  return { outcome: 'unknown', reason, charged: 'unknown' }
}

/** Adds to a result how many transactions were wasted on the payment, also if the step was too slow. */
async function withCosts(
  run: (onWasted: () => void) => Promise<Collected<X402Receipt>>,
): Promise<Collected<X402Receipt>> {
  let wasted = 0
  const collected = await run(() => {
    wasted += 1
  })
  return collected.outcome === 'settled' || wasted === 0 ? collected : { ...collected, wasted }
}

/** Believes nobody's word for a settlement, not even our facilitator's: only the chain's logs. */
async function collect(
  deps: RailDeps,
  tender: X402Payment,
  onWasted: Settling['onWasted'],
  { listing, onlyLooks }: Collecting = {},
): Promise<Collected<X402Receipt>> {
  const { chain, evidence } = deps
  const expected = expectedOf(tender)
  try {
    const submitted = onlyLooks ? undefined : await submit(deps, tender, { listing, onWasted })
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

/** A receipt that our node has already returned is not asked for again. */
function proofIn(chain: Chain, { hash, receipt }: Submitted, expected: Expected) {
  return receipt
    ? proveByReceipt(chain, { hash, receipt }, expected)
    : proveByTransaction(chain, hash, expected)
}

async function settledBy(
  evidence: Evidence,
  found: ProvenTransfer,
  expected: Expected,
): Promise<Collected<X402Receipt>> {
  return (await evidence.bearsOut(found, expected))
    ? { outcome: 'settled', receipt: { rail: 'x402', ...found } }
    : { outcome: 'unknown', reason: 'No witness has seen the payment yet.' }
}

/** Sends the authorization to the chain while it can still land. What a facilitator answers is only a hint. */
async function submit(
  deps: RailDeps,
  tender: X402Payment,
  settling: Settling,
): Promise<Submitted | undefined> {
  if (deps.now().getTime() > tender.validBefore * 1_000 - settleMarginMs) return undefined
  try {
    return await deps.facilitator.settle(tender, settling)
  } catch {
    // The reply was lost, not necessarily the payment. The logs are asked next, and they decide.
    return undefined
  }
}

async function confirmationOf(
  { evidence }: RailDeps,
  tender: X402Payment,
  receipt: X402Receipt,
): Promise<Confirmation> {
  try {
    return await evidence.confirmationOf(receipt, { ...expectedOf(tender), ...tender })
  } catch {
    return 'unknown'
  }
}
