import { type Checkout, isInvoiced, type Return, signedReturn } from '../../checkouts/checkout.ts'
import type { Refunding } from '../../orders/order.ts'
import type { Payout, PayoutState } from '../../orders/payout.ts'

/*
 * Payouts as the rows store them. The guards in the database use the same words, and so does the previous
 * version of the store, which may work on the same rows.
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

/** The step of a payout in its row. `WAITING`: of an order for which nothing is owed yet. */
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

/** The order with its payout in the form of its row, as `refund`. */
export function withRefund(order: Refunding) {
  const { payout: _, refundAt: __, ...rest } = order
  return { ...rest, refund: refundRowOf(order) }
}

export function refundRowOf({ payout, refundAt }: Refunding) {
  return payout ? payoutRowOf(payout) : { step: 'WAITING', signAt: refundAt }
}

/** A payout in USDC as its row stores it: the refund of an order, or goodwill. */
export function payoutRowOf(payout: Payout) {
  const { state, confirmedAt, ...rest } = { confirmedAt: undefined, ...payout }
  return { step: refundSteps[state], ...rest, ...(confirmedAt && { refundedAt: confirmedAt }) }
}

export interface PayoutRow {
  readonly step: Exclude<StoredStep, 'WAITING'>
  readonly refundedAt?: Date
}

export type RefundRow = PayoutRow | { readonly step: 'WAITING'; readonly signAt: Date }

/** The fields of an order that `refundRowOf` wrote as `refund`. */
export function refundOf(row: RefundRow): object {
  return row.step === 'WAITING' ? { refundAt: row.signAt } : { payout: payoutOf(row) }
}

/** The payout that `payoutRowOf` wrote. */
export function payoutOf({ step, refundedAt, ...rest }: PayoutRow): Payout {
  const time = refundedAt && { confirmedAt: refundedAt }
  return { state: states[step], ...rest, ...time } as Payout
}

/** An entry of `returns` in the row of a checkout. `signed` is left out, because other parts of the row repeat it. */
export function returnRowOf({ payout, ...one }: Return) {
  const type = returnSteps[payout.state]
  if (payout.state === 'APPROVED') return { ...one, step: { type } }
  const { state: _, confirmedAt, ...rest } = { confirmedAt: undefined, ...payout }
  return { ...one, step: { type, ...rest, ...(confirmedAt && { sentAt: confirmedAt }) } }
}

interface ReturnRow extends Omit<Return, 'payout'> {
  readonly step: { readonly type: Exclude<StoredStep, 'WAITING'>; readonly sentAt?: Date }
}

/** Restores the returns of a checkout that has them as `returnRowOf` wrote them. */
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
