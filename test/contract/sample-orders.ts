import { randomBytes } from 'node:crypto'
import type { OfferId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { In, Order, Refunding } from '../../src/orders/order.ts'
import { blockOf, type SignedRefund, type X402Payment } from '../../src/payments/payment.ts'
import type { Sealed } from '../../src/secrets/vault.ts'
import { newOrderId, newPaymentId } from '../doubles/ids.ts'

export const payer = `0x${'Ab'.repeat(20)}`

const placedAt = new Date('2026-03-01T10:00:00.123Z')

/** A different payment every time. */
export function newX402Payment(): X402Payment {
  return {
    rail: 'x402',
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: `0x${'12'.repeat(20)}`,
    payer,
    amount: usdc(12_500_000n),
    nonce: newHash(),
    validAfter: 1_772_359_000,
    validBefore: 1_772_359_500,
    signature: `0x${'5c'.repeat(65)}`,
    sinceBlock: 41_000_000,
  }
}

/** A transaction hash or nonce. */
export function newHash(): string {
  return `0x${randomBytes(32).toString('hex')}`
}

/** The purchase of every sample, independent of the payment method. */
export const wanted = {
  item: {
    kind: 'voucher',
    offerId: 'TEST-VOUCHER-OK' as OfferId,
    source: { supplier: 'zendit', product: 'TEST-VOUCHER-OK' },
    brandName: 'Test',
    country: 'DE',
    value: 2_500,
    shown: {
      subTypes: ['Shopping'],
      price: { type: 'RANGE', currency: 'USD', divisor: 100, min: 500, max: 9_000, increment: 1 },
      faceValue: { type: 'FIXED', currency: 'EUR', divisor: 100, fixed: 2_147 },
      allowance: { dataGb: 0.5, durationDays: 7, voiceUnlimited: true },
      coverage: [{ country: 'JP' }, { country: 'KR' }],
      fairUse: 'After 1 GB: 512\u0000 kbps.',
    },
  },
  recipient: 'v1.sealed.recipient' as Sealed,
  fingerprint: 'f'.repeat(64),
  accessTokenHash: 'a'.repeat(64),
  amount: usdc(12_500_000n),
} as const

export function pending(changes: Partial<In<'PAYMENT_PENDING'>> = {}): In<'PAYMENT_PENDING'> {
  return {
    state: 'PAYMENT_PENDING',
    id: newOrderId(),
    paymentId: newPaymentId(),
    version: 1,
    ...wanted,
    tender: newX402Payment(),
    placedAt,
    changedAt: placedAt,
    ...changes,
  }
}

export function paymentFailed(order: In<'PAYMENT_PENDING'>): In<'PAYMENT_FAILED'> {
  return {
    ...order,
    state: 'PAYMENT_FAILED',
    changedAt: later(1),
    code: 'expired',
    reason: 'Late.',
  }
}

export function paid(order: In<'PAYMENT_PENDING'>, transaction = newHash()): In<'PAID'> {
  const receipt = { rail: 'x402', transaction, block: 41_000_002 } as const
  return {
    ...order,
    state: 'PAID',
    changedAt: later(2),
    receipt,
    settlement: 'SEEN',
    paidAt: later(2),
    deliverBy: later(602),
  }
}

export function fulfilling(order: In<'PAID'>): In<'FULFILLING'> {
  return { ...order, state: 'FULFILLING', changedAt: later(3), askedAt: later(3) }
}

export function fulfilled(order: In<'FULFILLING'>, iccidDigest?: string): In<'FULFILLED'> {
  const { askedAt: _, ...rest } = order
  return {
    ...rest,
    state: 'FULFILLED',
    settlement: 'FINAL',
    changedAt: later(4),
    delivery: 'v1.sealed.delivery' as Sealed,
    deliveredAt: later(4),
    ...(iccidDigest === undefined ? {} : { iccidDigest }),
  }
}

export function failed(order: In<'FULFILLING'>): In<'FULFILLMENT_FAILED'> {
  const { askedAt: _, ...rest } = order
  return {
    ...rest,
    state: 'FULFILLMENT_FAILED',
    settlement: 'FINAL',
    changedAt: later(4),
    failure: { trigger: 'fulfillment_failed', code: 'E7', message: 'No such line: +4915112345678' },
    payout: { state: 'DUE' },
    supply: { state: 'NONE' },
  }
}

export function refunded(order: In<'FULFILLMENT_FAILED'>): In<'FULFILLMENT_FAILED'> {
  return {
    ...order,
    payout: { state: 'CONFIRMED', transaction: newHash(), confirmedAt: later(60) },
  }
}

export function unpayable(order: In<'FULFILLMENT_FAILED'>): In<'FULFILLMENT_FAILED'> {
  return { ...order, payout: { state: 'FAILED', code: 'BLOCKED', reason: 'The payer is blocked.' } }
}

/** A signed payout of this order, or of its goodwill. */
export function signedFor({
  tender,
  amount,
  receipt,
}: Pick<Refunding, 'tender' | 'amount' | 'receipt'>): SignedRefund {
  return {
    rail: 'x402',
    network: tender.network,
    from: `0x${'34'.repeat(20)}`,
    to: tender.payer,
    amount,
    nonce: newHash(),
    validBefore: 1_772_362_800,
    signature: `0x${'7d'.repeat(65)}`,
    sinceBlock: blockOf(receipt) ?? 0,
  }
}

/** The order with a signed refund, which can be on record only with a grant. */
export function signed(order: In<'FULFILLMENT_FAILED'>): In<'FULFILLMENT_FAILED'> {
  return { ...order, payout: { state: 'APPROVED', signed: signedFor(order) } }
}

/** All orders on the shortest way from the opening to this one, which is the last. */
export function wayTo(order: Order): readonly Order[] {
  if (order.state === 'PAYMENT_PENDING') return [order]
  const { id, paymentId, item, recipient, fingerprint, accessTokenHash, tender, amount } = order
  const common = { id, paymentId, item, recipient, fingerprint, accessTokenHash, tender, amount }
  const first = pending({ ...common, placedAt: order.placedAt })
  if (order.state === 'PAYMENT_FAILED') return [first, order]
  if (order.state === 'PAID') return [first, order]
  const { receipt, paidAt, deliverBy } = order
  const settlement = 'SEEN'
  const second: In<'PAID'> = { ...first, state: 'PAID', receipt, settlement, paidAt, deliverBy }
  return order.state === 'FULFILLING'
    ? [first, second, order]
    : [first, second, fulfilling(second), order]
}

function later(seconds: number): Date {
  return new Date(placedAt.getTime() + seconds * 1_000)
}
