import { refundNonceOf } from '../../src/adapters/chain/refunds.ts'
import type { X402Payment, X402Receipt, X402Refund } from '../../src/payments/payment.ts'
import type { Checked, Collected, PaidBack, Rail, RefundDue } from '../../src/payments/ports.ts'
import { minValiditySeconds } from '../../src/payments/terms.ts'
import { type Authorization, type Chain, latest, type View } from './chain.ts'

/** Called before every effect, to check whether it is allowed. */
export interface RailWitness {
  collecting(tender: X402Payment): void
  signing(refund: X402Refund): void
  payingBack(refund: X402Refund): void
}

/** Carries signed transfers to the chain. Each call resolves when the rail stops waiting for it. */
export interface Network {
  payment(authorization: Authorization): Promise<void>
  refund(authorization: Authorization): Promise<void>
}

export interface RailWorld {
  readonly chain: Chain
  readonly network: Network
  readonly witness: RailWitness
  /** The state of the RPC node at the moment of a call. */
  readonly view?: () => View
}

export const refundWallet = '0x00000000000000000000000000000000000f10a7'
const refundValidSeconds = 24 * 3_600
/** The facilitator accepts no authorization that expires sooner than this. */
const settleMarginSeconds = 4

/** An implementation of `Rail` (payments/ports.ts) on the model chain. */
export function modelRail({ chain, network, witness, view = () => latest }: RailWorld): Rail {
  return {
    isSignedByPayer: async () => true,

    isUnused: async (tender) => !chain.isUsed(ofTender(tender), view()),

    check: async (tender) => check(chain, tender, view()),

    async collect(tender, { onlyLooks = false } = {}) {
      witness.collecting(tender)
      if (!onlyLooks && chain.seconds() < tender.validBefore - settleMarginSeconds) {
        await network.payment(ofTender(tender))
      }
      return collected(chain, tender, view())
    },

    async confirmationOf(tender, { transaction, block }) {
      const seen = view()
      if (!chain.isSafe(block, seen)) return 'not_yet'
      const now = chain.blockOf(transaction, ofTender(tender), seen)
      if (now === undefined) return 'gone'
      // The transaction may have moved to a later block, which can still be dropped.
      return chain.isUsedForGood(transaction, ofTender(tender), seen) ? 'final' : 'not_yet'
    },

    async signRefund(due) {
      const refund = signed(chain, due)
      witness.signing(refund)
      return refund
    },

    async payBack(refund) {
      const known = paidBack(chain, refund, view())
      if (known) return known
      witness.payingBack(refund)
      await network.refund(ofRefund(refund))
      return { outcome: 'pending', reason: 'sent' }
    },
  }
}

function check(chain: Chain, tender: X402Payment, view: View): Checked<X402Payment> {
  const authorization = ofTender(tender)
  const left = tender.validBefore - chain.seconds()
  if (left < minValiditySeconds) return checkedLate(chain, tender, { left, view })
  if (chain.isUsed(authorization, view)) {
    if (chain.judge(authorization, view).verdict !== 'transferred') return bad('nonce_used')
  } else if (chain.balanceOf(tender.payer, view) < tender.amount) return bad('insufficient_balance')
  else if (chain.isClosedTo(tender.payTo))
    return { outcome: 'unknown', reason: 'closed', charged: 'no' }
  else if (chain.isClosedTo(tender.payer)) return bad('would_fail')
  return { outcome: 'good', tender: { ...tender, sinceBlock: chain.head() - 3_000 } }
}

/** A payment that expires soon, or has expired, may have landed before its record was lost. */
function checkedLate(
  chain: Chain,
  tender: X402Payment,
  { left, view }: { readonly left: number; readonly view: View },
): Checked<X402Payment> {
  const authorization = ofTender(tender)
  const judged = chain.judge(authorization, view)
  if (judged.verdict === 'transferred') return { outcome: 'good', tender }
  if (judged.verdict === 'dead') return bad(judged.cause === 'expired' ? 'expired' : 'nonce_used')
  if (left > 0 && !chain.isUsed(authorization, view)) return bad('expired')
  return { outcome: 'unknown', reason: 'open', charged: 'unknown' }
}

function bad(code: string): Checked<X402Payment> {
  return { outcome: 'bad', code, reason: code }
}

function collected(chain: Chain, tender: X402Payment, view: View): Collected<X402Receipt> {
  const judged = chain.judge(ofTender(tender), view)
  switch (judged.verdict) {
    case 'transferred': {
      const { transaction, block } = judged
      return { outcome: 'settled', receipt: { rail: 'x402', transaction, block } }
    }
    case 'dead':
      return { outcome: 'failed', code: judged.cause, reason: judged.cause }
    case 'open':
      return { outcome: 'unknown', reason: 'open' }
  }
}

function signed(
  chain: Chain,
  { reference, tender, since }: RefundDue<X402Payment, X402Receipt>,
): X402Refund {
  const nonce = refundNonceOf(84_532, reference)
  const validBefore = chain.seconds() + refundValidSeconds
  return {
    rail: 'x402',
    network: tender.network,
    from: refundWallet,
    to: tender.payer,
    amount: tender.amount,
    nonce,
    validBefore,
    signature: `signed ${nonce} until ${validBefore}`,
    sinceBlock: since.block,
  }
}

/** The answer for a refund that must not be sent (again); undefined if it is to be sent. */
function paidBack(chain: Chain, refund: X402Refund, view: View): PaidBack | undefined {
  const judged = chain.judge(ofRefund(refund), view)
  if (judged.verdict === 'transferred') {
    const { transaction } = judged
    return chain.isUsedForGood(transaction, ofRefund(refund), view)
      ? { outcome: 'paid', transaction }
      : { outcome: 'pending', reason: 'not safe yet' }
  }
  if (judged.verdict === 'dead') {
    return judged.cause === 'expired' ? { outcome: 'lapsed' } : blocked('refund_nonce_spent')
  }
  if (chain.token.isPaused) return blocked('token_paused')
  if (chain.isClosedTo(refund.to)) return blocked('payer_blacklisted')
  if (chain.isClosedTo(refund.from)) return blocked('wallet_blacklisted')
  return chain.balanceOf(refund.from, view) < refund.amount ? blocked('no_float') : undefined
}

function blocked(code: string): PaidBack {
  return { outcome: 'blocked', code, reason: code }
}

export function ofTender({
  payer,
  payTo,
  amount,
  nonce,
  validBefore,
}: Pick<X402Payment, 'payer' | 'payTo' | 'amount' | 'nonce' | 'validBefore'>): Authorization {
  return { from: payer, to: payTo, value: amount, nonce, validBefore }
}

function ofRefund({ from, to, amount, nonce, validBefore }: X402Refund): Authorization {
  return { from, to, value: amount, nonce, validBefore }
}
