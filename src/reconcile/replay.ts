import {
  type Failure,
  type In,
  isRefunding,
  type Order,
  type Refunding,
  type Supply,
  withPayout,
} from '../orders/order.ts'
import type { Payout } from '../orders/payout.ts'
import type { Receipt } from '../payments/payment.ts'
import type { Sealed } from '../secrets/vault.ts'
import type { ChainTransfer } from './ports.ts'

/*
 * The moves from what is on record to what is true. They are the moves that the store makes, so ledger, history
 * and the guards of the database hold for a rebuilt order.
 */

/** The failure of an order that the store cannot go on with, because its record was lost. */
const recordLost: Failure = {
  trigger: 'fulfillment_failed',
  message: 'The record of this order was lost, and the money goes back.',
}

export interface Replay {
  readonly now: Date
  /** Its payment on the chain, in a safe block; only for an order that does not count as paid. */
  readonly payment?: Receipt | undefined
}

/**
 * The moves from an order on record to the refund that it had.
 *
 * @returns undefined if no legal move leads there: the order was delivered, or counts as never paid
 */
export function replayToRefunded(
  order: Order,
  transaction: string,
  replay: Replay,
): readonly Order[] | undefined {
  const paid: Payout = { state: 'CONFIRMED', transaction, confirmedAt: replay.now }
  if (isRefunding(order)) return [...walkToDue(order), withPayout(order, paid)]
  const way = walkToFulfilling(order, replay)
  if (way === undefined) return undefined
  const failed = givenUp(way.at, replay.now, { state: 'OPEN' })
  return [...way.moves, failed, withPayout(failed, paid)]
}

/** The move to `DUE`, from which every refund continues. */
function walkToDue(order: Refunding): readonly Order[] {
  const isBefore = order.payout === undefined || order.payout.state === 'FAILED'
  return isBefore ? [withPayout(order, { state: 'DUE' })] : []
}

/** The moves from an order just opened to a delivered one. */
export function replayToDelivered(
  opened: In<'PAYMENT_PENDING'>,
  goods: { readonly delivery: Sealed; readonly iccidDigest?: string },
  replay: Replay & { readonly payment: Receipt },
): readonly Order[] {
  const { moves, at } = paidWay(opened, replay.payment, replay.now)
  const { askedAt: _, ...paid } = at
  const done = { state: 'FULFILLED', changedAt: replay.now, deliveredAt: replay.now } as const
  return [...moves, { ...paid, ...done, ...goods }]
}

/** The moves from an order just opened to one whose refund is due, or was paid already. */
export function replayToOwed(
  opened: In<'PAYMENT_PENDING'>,
  { refundedBy, supply }: { readonly refundedBy?: string | undefined; readonly supply: Supply },
  replay: Replay & { readonly payment: Receipt },
): readonly Order[] {
  const { moves, at } = paidWay(opened, replay.payment, replay.now)
  const failed = givenUp(at, replay.now, supply)
  if (refundedBy === undefined) return [...moves, failed]
  const payout: Payout = { state: 'CONFIRMED', transaction: refundedBy, confirmedAt: replay.now }
  return [...moves, failed, { ...failed, payout }]
}

interface Way {
  readonly moves: readonly Order[]
  readonly at: In<'FULFILLING'>
}

function walkToFulfilling(order: Order, { now, payment }: Replay): Way | undefined {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return payment && paidWay(order, payment, now)
    case 'PAID': {
      const at = asked(order, now)
      return { moves: [at], at }
    }
    case 'FULFILLING':
      return { moves: [], at: order }
    default:
      return undefined
  }
}

function paidWay(order: In<'PAYMENT_PENDING'>, receipt: Receipt, now: Date): Way {
  const paid: In<'PAID'> = {
    ...order,
    state: 'PAID',
    changedAt: now,
    receipt,
    settlement: 'FINAL',
    paidAt: order.placedAt,
    deliverBy: now,
  }
  const at = asked(paid, now)
  return { moves: [paid, at], at }
}

function asked(order: In<'PAID'>, now: Date): In<'FULFILLING'> {
  return { ...order, state: 'FULFILLING', changedAt: now, askedAt: now }
}

function givenUp(
  { askedAt: _, ...order }: In<'FULFILLING'>,
  now: Date,
  supply: Supply,
): In<'FULFILLMENT_FAILED'> {
  return {
    ...order,
    state: 'FULFILLMENT_FAILED',
    changedAt: now,
    failure: recordLost,
    payout: { state: 'DUE' },
    supply,
  }
}

/** The receipt of a transfer: where it can be checked. */
export function receiptOf({ transaction, block }: ChainTransfer): Receipt {
  return { rail: 'x402', transaction, block }
}
