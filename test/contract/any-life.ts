import fc from 'fast-check'
import type { In, Order, PaidOrder, Refunding } from '../../src/orders/order.ts'
import { isRefunding, withPayout } from '../../src/orders/order.ts'
import { type Payout, type PayoutState, payoutMoves } from '../../src/orders/payout.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  newHash,
  paid,
  paymentFailed,
  pending,
  signedFor,
} from './sample-orders.ts'

/**
 * A random life of an order: its opening, and then random legal moves, until none is left or after
 * `maxMoves`.
 */
export function anyLife(maxMoves = 14): fc.Arbitrary<readonly Order[]> {
  const choices = fc.array(fc.nat({ max: 0xffff }), { minLength: 1, maxLength: maxMoves })
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 12n })
  return fc.tuple(choices, amounts).map(([turns, amount]) => {
    const first = pending()
    const life: Order[] = [{ ...first, amount: amount as typeof first.amount }]
    for (const turn of turns) {
      const next = nextOf(life.at(-1) as Order)
      if (next.length === 0) break
      life.push(next[turn % next.length] as Order)
    }
    return life
  })
}

/** All orders that this one may become by one legal move. */
function nextOf(order: Order): readonly Order[] {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return [paid(order), paymentFailed(order)]
    case 'PAYMENT_FAILED':
      return []
    case 'PAID':
      return [fulfilling(order), fulfilling(order), unpaid(order)]
    case 'FULFILLING':
      return [...assured(order), ...ends(order)]
    case 'FULFILLED':
      return assured(order)
    default:
      return [...assured(order), ...refundSteps(order)]
  }
}

/** The moves when the fate of a payment that could still vanish becomes known. */
function assured(order: Exclude<PaidOrder, In<'PAID'>>): readonly Order[] {
  if (order.settlement !== 'SEEN') return []
  const receipt = { ...order.receipt, transaction: newHash() }
  const known: readonly Order[] = [
    { ...order, settlement: 'FINAL' },
    { ...order, receipt },
  ]
  return order.state === 'FULFILLING' ? known : [...known, { ...order, settlement: 'LOST' }]
}

function ends(order: In<'FULFILLING'>): readonly Order[] {
  const { settlement } = order
  const refundAt = new Date(order.paidAt.getTime() + 3_600_000)
  const givenUp = { ...failed(order), settlement }
  const { payout: _, ...awaited } = givenUp
  return [
    { ...fulfilled(order), settlement },
    givenUp,
    { ...awaited, state: 'EXPIRED', refundAt, supply: { state: 'OPEN' } },
    ...(settlement === 'SEEN' ? [{ ...givenUp, settlement: 'LOST' } as const] : []),
  ]
}

function refundSteps(order: Refunding): readonly Order[] {
  const { payout } = order
  const states: readonly PayoutState[] = payout ? payoutMoves[payout.state] : ['DUE', 'FAILED']
  const mayPay = order.settlement === 'FINAL'
  return states
    .filter((state) => mayPay || (state !== 'APPROVED' && state !== 'CONFIRMED'))
    .map((state) => withPayout(order, payoutAt(order, state)))
}

/** A payout that failed keeps what was signed, and so does its retry. */
function payoutAt(order: Refunding, state: PayoutState): Payout {
  const { signed } = { signed: undefined, ...order.payout }
  switch (state) {
    case 'DUE':
      return { state, ...(order.payout?.state === 'FAILED' && signed && { signed }) }
    case 'APPROVED':
      return { state, signed: signedFor(order) }
    case 'CONFIRMED': {
      const confirmedAt = new Date(order.paidAt.getTime() + 60_000)
      return { state, transaction: newHash(), confirmedAt }
    }
    case 'FAILED':
      return {
        state,
        code: 'no_float',
        reason: 'The refund wallet is empty.',
        ...(signed && { signed }),
      }
  }
}

/** The order before its payment was seen. */
function unpaid(order: In<'PAID'>): In<'PAYMENT_PENDING'> {
  const { receipt: _, settlement: __, paidAt: ___, deliverBy: ____, ...ordered } = order
  return { ...ordered, state: 'PAYMENT_PENDING' }
}

/** Whether the refund of this order is signed, which needs a grant. */
export function isSigned(order: Order): order is Refunding {
  return isRefunding(order) && order.payout?.state === 'APPROVED'
}
