import { refundNonceOf } from '../../src/adapters/chain/refunds.ts'
import type { SignedRefund, Tender } from '../../src/payments/payment.ts'
import type { Checked, Collected, PaidBack, Rail, RefundDue } from '../../src/payments/ports.ts'
import type { Authorization, Chain } from './chain.ts'
import type { Clock } from './clock.ts'

/** What becomes of the payment between its signature and the chain. */
export const payments = [
  'pays',
  'lands-slowly',
  'landed-by-other',
  'cancelled',
  'spent-elsewhere',
  'emptied-wallet',
  'never-lands',
] as const
export type PaymentManner = (typeof payments)[number]

/** What becomes of a refund that is sent. */
export const refunds = ['prompt', 'slow', 'dropped', 'lapses', 'no-float'] as const
export type RefundManner = (typeof refunds)[number]

/** Hears of every effect before it happens, to say whether it may. */
export interface RailWitness {
  collecting(tender: Tender): void
  signing(refund: SignedRefund): void
  payingBack(refund: SignedRefund): void
}

export interface RailWorld {
  readonly clock: Clock
  readonly chain: Chain
  readonly payment: PaymentManner
  readonly refund: RefundManner
  readonly witness: RailWitness
}

export const refundWallet = '0x00000000000000000000000000000000000f10a7'
const refundValidSeconds = 24 * 3_600
/** The facilitator takes nothing that ends sooner than this. */
const settleMarginSeconds = 4

/** The rail's promises (payments/ports.ts) kept over the model chain. */
export function modelRail(world: RailWorld): Rail {
  const { chain } = world
  const submit = paymentSender(world)
  const broadcast = refundSender(world)
  return {
    check: async (tender) => check(chain, tender),

    async collect(tender) {
      world.witness.collecting(tender)
      if (chain.seconds() < tender.validBefore - settleMarginSeconds) submit(tender)
      return collected(chain, tender)
    },

    async standingOf(tender, receipt) {
      if (!chain.isSafe(receipt.block)) return 'not_yet'
      return chain.judge(ofTender(tender)).verdict === 'transferred' ? 'final' : 'gone'
    },

    async signRefund(due) {
      const refund = signed(chain, due)
      world.witness.signing(refund)
      return refund
    },

    async payBack(refund) {
      const known = paidBack(chain, refund)
      if (known) return known
      world.witness.payingBack(refund)
      broadcast(refund)
      return { outcome: 'pending', reason: 'sent' }
    },
  }
}

function check(chain: Chain, tender: Tender): Checked {
  const authorization = ofTender(tender)
  if (chain.seconds() >= tender.validBefore) return bad('expired')
  if (chain.isUsed(authorization)) {
    if (chain.judge(authorization).verdict !== 'transferred') return bad('nonce_used')
  } else if (chain.balanceOf(tender.payer) < tender.amount) return bad('insufficient_balance')
  return { outcome: 'good', tender: { ...tender, sinceBlock: chain.head() - 3_000 } }
}

function bad(code: string): Checked {
  return { outcome: 'bad', code, reason: code }
}

function collected(chain: Chain, tender: Tender): Collected {
  const judged = chain.judge(ofTender(tender))
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

/** Before the first submission the payer may come first. */
function paymentSender(world: RailWorld): (tender: Tender) => void {
  const { clock, chain, payment } = world
  const met = new Set<string>()
  return (tender) => {
    const authorization = ofTender(tender)
    if (!met.has(tender.nonce)) comeFirst(world, authorization)
    met.add(tender.nonce)
    if (payment === 'never-lands') return
    if (payment === 'lands-slowly') clock.later(30_000, () => chain.execute(authorization))
    else chain.execute(authorization)
  }
}

/** What happens to an authorization while it is on its way to the chain. */
function comeFirst({ chain, payment }: RailWorld, authorization: Authorization): void {
  switch (payment) {
    case 'landed-by-other':
      chain.execute(authorization)
      break
    case 'cancelled':
      chain.cancel(authorization)
      break
    case 'spent-elsewhere':
      chain.spendElsewhere(authorization)
      break
    case 'emptied-wallet':
      chain.fund(authorization.from, -chain.balanceOf(authorization.from))
      break
    default:
      break
  }
}

function refundSender({ clock, chain, refund: manner }: RailWorld): (refund: SignedRefund) => void {
  let sent = 0
  let firstEnds = 0
  return (refund) => {
    sent += 1
    firstEnds ||= refund.validBefore
    if (manner === 'dropped' && sent === 1) return
    if (manner === 'lapses' && refund.validBefore === firstEnds) return
    if (manner === 'slow') clock.later(40_000, () => chain.execute(ofRefund(refund)))
    else chain.execute(ofRefund(refund))
  }
}

function signed(chain: Chain, { order, to, amount, since }: RefundDue): SignedRefund {
  const nonce = refundNonceOf(84_532, order)
  const validBefore = chain.seconds() + refundValidSeconds
  return {
    rail: 'x402',
    from: refundWallet,
    to,
    amount,
    nonce,
    validBefore,
    signature: `signed ${nonce} until ${validBefore}`,
    sinceBlock: since.block,
  }
}

/** What is known of a refund before it is sent, or undefined when it is to be sent. */
function paidBack(chain: Chain, refund: SignedRefund): PaidBack | undefined {
  const judged = chain.judge(ofRefund(refund))
  if (judged.verdict === 'transferred') {
    return chain.isSafe(judged.block)
      ? { outcome: 'paid', transaction: judged.transaction }
      : { outcome: 'pending', reason: 'not safe yet' }
  }
  if (judged.verdict === 'dead') {
    return judged.cause === 'expired' ? { outcome: 'lapsed' } : blocked('refund_nonce_spent')
  }
  return chain.balanceOf(refund.from) < refund.amount ? blocked('no_float') : undefined
}

function blocked(code: string): PaidBack {
  return { outcome: 'blocked', code, reason: code }
}

function ofTender({ payer, payTo, amount, nonce, validBefore }: Tender): Authorization {
  return { from: payer, to: payTo, value: amount, nonce, validBefore }
}

function ofRefund({ from, to, amount, nonce, validBefore }: SignedRefund): Authorization {
  return { from, to, value: amount, nonce, validBefore }
}
