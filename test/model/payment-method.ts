import { refundNonceOf } from '../../src/adapters/chain/refunds.ts'
import type {
  Checked,
  Collected,
  PaidBack,
  RefundDue,
  X402Method,
  X402Payment,
  X402Receipt,
  X402Refund,
} from '../../src/payments/payment.ts'
import { minValiditySeconds } from '../../src/payments/terms.ts'
import { type Authorization, type Chain, latest, type View } from './chain.ts'

/** Called before every effect, to check whether it is allowed. */
export interface RailWitness {
  collecting(payment: X402Payment): void
  signing(refund: X402Refund): void
  payingBack(refund: X402Refund): void
}

/** Carries signed transfers to the chain. Each call resolves when the method stops waiting for it. */
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

/** An implementation of `X402Method` (payments/payment.ts) on the model chain. */
export function modelMethod({
  chain,
  network,
  witness,
  view = () => latest,
}: RailWorld): X402Method {
  return {
    isSignedByPayer: async () => true,

    isUnused: async (payment) => !chain.isUsed(ofPayment(payment), view()),

    check: async (payment) => check(chain, payment, view()),

    async collect(payment, { onlyLooks = false } = {}) {
      witness.collecting(payment)
      if (!onlyLooks && chain.seconds() < payment.validBefore - settleMarginSeconds) {
        await network.payment(ofPayment(payment))
      }
      return collected(chain, payment, view())
    },

    async confirmationOf(payment, { transaction, block }) {
      const seen = view()
      if (!chain.isSafe(block, seen)) return 'not_yet'
      const now = chain.blockOf(transaction, ofPayment(payment), seen)
      if (now === undefined) return 'gone'
      // The transaction may have moved to a later block, which can still be dropped.
      return chain.isUsedForGood(transaction, ofPayment(payment), seen) ? 'final' : 'not_yet'
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

function check(chain: Chain, payment: X402Payment, view: View): Checked<X402Payment> {
  const authorization = ofPayment(payment)
  const left = payment.validBefore - chain.seconds()
  if (left < minValiditySeconds) return checkedLate(chain, payment, { left, view })
  if (chain.isUsed(authorization, view)) {
    if (chain.judge(authorization, view).verdict !== 'transferred') return bad('nonce_used')
  } else if (chain.balanceOf(payment.payer, view) < payment.amount)
    return bad('insufficient_balance')
  else if (chain.isClosedTo(payment.payTo))
    return { outcome: 'unknown', reason: 'closed', charged: 'no' }
  else if (chain.isClosedTo(payment.payer)) return bad('would_fail')
  return { outcome: 'good', payment: { ...payment, sinceBlock: chain.head() - 3_000 } }
}

/** A payment that expires soon, or has expired, may have landed before its record was lost. */
function checkedLate(
  chain: Chain,
  payment: X402Payment,
  { left, view }: { readonly left: number; readonly view: View },
): Checked<X402Payment> {
  const authorization = ofPayment(payment)
  const judged = chain.judge(authorization, view)
  if (judged.verdict === 'transferred') return { outcome: 'good', payment }
  if (judged.verdict === 'dead') return bad(judged.cause === 'expired' ? 'expired' : 'nonce_used')
  if (left > 0 && !chain.isUsed(authorization, view)) return bad('expired')
  return { outcome: 'unknown', reason: 'open', charged: 'unknown' }
}

function bad(code: string): Checked<X402Payment> {
  return { outcome: 'bad', code, reason: code }
}

function collected(chain: Chain, payment: X402Payment, view: View): Collected<X402Receipt> {
  const judged = chain.judge(ofPayment(payment), view)
  switch (judged.verdict) {
    case 'transferred': {
      const { transaction, block } = judged
      return { outcome: 'settled', receipt: { method: 'x402', transaction, block } }
    }
    case 'dead':
      return { outcome: 'failed', code: judged.cause, reason: judged.cause }
    case 'open':
      return { outcome: 'unknown', reason: 'open' }
  }
}

function signed(
  chain: Chain,
  { reference, payment, since }: RefundDue<X402Payment, X402Receipt>,
): X402Refund {
  const nonce = refundNonceOf(84_532, reference)
  const validBefore = chain.seconds() + refundValidSeconds
  return {
    method: 'x402',
    network: payment.network,
    from: refundWallet,
    to: payment.payer,
    amount: payment.amount,
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

export function ofPayment({
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
