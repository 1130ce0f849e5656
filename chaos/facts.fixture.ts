import { keccak256, toBytes } from 'viem'
import type { Facts, OrderRow, Seen, Supplied, Transfer } from './audit.ts'

/* The facts of a clean run, which tests change. Its orders: delivered, refunded, refunded before late goods came. */
const payer = `0x${'a1'.repeat(20)}`
export const stranger = `0x${'b2'.repeat(20)}`
const payTo = `0x${'c3'.repeat(20)}`
const refundWallet = `0x${'d4'.repeat(20)}`
export const delivered = `ord_${'1'.repeat(26)}`
export const refunded = `ord_${'2'.repeat(26)}`
export const late = `ord_${'3'.repeat(26)}`

export const hashOf = (digit: string) => `0x${digit.repeat(64)}`

export function payment(digit: string, changes: Partial<Transfer> = {}): Transfer {
  return {
    transaction: hashOf(digit),
    from: payer,
    to: payTo,
    value: 500_000n,
    nonce: `0x${digit.repeat(63)}f`,
    ...changes,
  }
}

export function refund(orderId: string, digit: string, changes: Partial<Transfer> = {}): Transfer {
  return {
    transaction: hashOf(digit),
    from: refundWallet,
    to: payer,
    value: 500_000n,
    nonce: keccak256(toBytes(`refund:v1|84532|${orderId}`)),
    ...changes,
  }
}

export function order(id: string, changes: Partial<OrderRow> = {}): OrderRow {
  return {
    id,
    state: 'FULFILLED',
    refundState: null,
    payer,
    amount: 500_000n,
    transaction: null,
    refundTransaction: null,
    supply: null,
    events: [],
    ...changes,
  }
}

export function supplied(orderId: string, changes: Partial<Supplied> = {}): Supplied {
  return {
    transactionId: orderId.replace('_', ''),
    status: 'DONE',
    cost: 45,
    charged: 45,
    refunded: 0,
    deliveries: 1,
    secrets: [`SBX-${orderId.slice(-4)}`],
    ...changes,
  }
}

export function seen(orderId: string, digit: string, changes: Partial<Seen> = {}): Seen {
  return {
    purchase: `b0-${digit}`,
    payer,
    nonces: [`0x${digit.repeat(63)}f`],
    orderIds: [orderId],
    goods: [],
    refunded: [],
    refused: [],
    unexpected: [],
    unanswered: 0,
    putOff: 0,
    pausedAt: [],
    ending: 'refunded',
    ...changes,
  }
}

export function goodsOf(orderId: string) {
  return { orderId, result: JSON.stringify({ code: `SBX-${orderId.slice(-4)}` }) }
}

export const cleanFacts: Facts = {
  payments: [payment('1'), payment('2'), payment('3')],
  refunds: [refund(refunded, '5'), refund(late, '6')],
  supplied: [
    supplied(delivered),
    supplied(refunded, { status: 'FAILED', charged: 0, deliveries: 0, secrets: [] }),
    supplied(late),
  ],
  orders: [
    order(delivered, { transaction: hashOf('1') }),
    order(refunded, {
      state: 'FULFILLMENT_FAILED',
      refundState: 'REFUNDED',
      transaction: hashOf('2'),
      refundTransaction: hashOf('5'),
      supply: 'NONE',
    }),
    order(late, {
      state: 'EXPIRED',
      refundState: 'REFUNDED',
      transaction: hashOf('3'),
      refundTransaction: hashOf('6'),
      supply: 'LOST',
    }),
  ],
  seen: [
    seen(delivered, '1', { goods: [goodsOf(delivered)], ending: 'delivered' }),
    seen(refunded, '2', { refunded: [refunded] }),
    seen(late, '3', { refunded: [late] }),
  ],
  endedAlone: [],
  pauses: [],
  calmUntil: 0,
}
