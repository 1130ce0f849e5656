import { type Checkout, isInvoiced, type Return, signedReturn } from '../../checkouts/checkout.ts'
import type { Refunding } from '../../orders/order.ts'
import type { Payout, PayoutState } from '../../orders/payout.ts'

/*
 * Payouts in the words of the rows: those of the guards in the database, and of the version before this
 * one, which may work on the same rows.
 */

const refundSteps = {
  DUE: 'DUE',
  APPROVED: 'SIGNED',
  CONFIRMED: 'REFUNDED',
  FAILED: 'FAILED',
} as const satisfies Record<PayoutState, string>

const returnSteps = {
  DUE: 'DUE',
  APPROVED: 'SENDING',
  CONFIRMED: 'SENT',
  FAILED: 'FAILED',
} as const satisfies Record<PayoutState, string>

/** A word of the row of an order, where nothing is owed yet, or of a payout. */
export type StoredStep = 'WAITING' | (typeof refundSteps | typeof returnSteps)[PayoutState]

const states: Readonly<Record<Exclude<StoredStep, 'WAITING'>, PayoutState>> = {
  DUE: 'DUE',
  ...{ SIGNED: 'APPROVED', SENDING: 'APPROVED' },
  ...{ REFUNDED: 'CONFIRMED', SENT: 'CONFIRMED' },
  FAILED: 'FAILED',
}

export function stateOfStep(step: StoredStep): PayoutState | 'WAITING' {
  return step === 'WAITING' ? step : states[step]
}

/** The order with `refund` as its row has it. */
export function withRefund(order: Refunding) {
  const { payout: _, refundAt: __, ...rest } = order
  return { ...rest, refund: refundRowOf(order) }
}

export function refundRowOf({ payout, refundAt }: Refunding) {
  if (!payout) return { step: 'WAITING', signAt: refundAt }
  const { state, confirmedAt, ...rest } = { confirmedAt: undefined, ...payout }
  return { step: refundSteps[state], ...rest, ...(confirmedAt && { refundedAt: confirmedAt }) }
}

export interface RefundRow {
  readonly step: StoredStep
  readonly signAt?: Date
  readonly refundedAt?: Date
}

/** What an order has of the `refund` of its row. */
export function refundOf({ step, signAt, refundedAt, ...rest }: RefundRow): object {
  if (step === 'WAITING') return { refundAt: signAt }
  const time = refundedAt && { confirmedAt: refundedAt }
  return { payout: { state: states[step], ...rest, ...time } }
}

/** What the row of a checkout has in `returns`. What is signed repeats other parts of the row, so it is left out. */
export function returnRowOf({ payout, ...one }: Return) {
  const type = returnSteps[payout.state]
  if (payout.state === 'APPROVED') return { ...one, step: { type } }
  const { state: _, confirmedAt, ...rest } = { confirmedAt: undefined, ...payout }
  return { ...one, step: { type, ...rest, ...(confirmedAt && { sentAt: confirmedAt }) } }
}

interface ReturnRow extends Omit<Return, 'payout'> {
  readonly step: { readonly type: Exclude<StoredStep, 'WAITING'>; readonly sentAt?: Date }
}

/** The checkout with its returns, of one that has them as `returnRowOf` wrote them. */
export function withReturns(checkout: Checkout): Checkout {
  if (!isInvoiced(checkout)) return checkout
  const returnOf = ({ step: { type, sentAt, ...rest }, ...one }: ReturnRow): Return => {
    const state = states[type]
    const signed = state === 'APPROVED' && { signed: signedReturn(checkout, one) }
    const time = sentAt && { confirmedAt: sentAt }
    return { ...one, payout: { state, ...rest, ...signed, ...time } as Payout }
  }
  const rows = checkout.returns as readonly object[] as readonly ReturnRow[]
  return { ...checkout, returns: rows.map(returnOf) }
}
