import {
  type In,
  isRefunding,
  isUnderWay,
  type Order,
  type PaidOrder,
  payoutStateOf,
  type Refunding,
} from '../orders/order.ts'
import { same } from '../payments/payment.ts'
import type { SupplierPurchase } from '../suppliers/supplier.ts'
import { differs, type Finding, open } from './differences.ts'
import type { ChainTransfer } from './ports.ts'

/** When something counts as forgotten. */
export interface Patience {
  readonly now: Date
  /** Anything younger may still be under way; milliseconds. */
  readonly strayAfterMs: number
}

/** Judges a payment on the chain against the order that has its authorization. */
export function judgePayment(
  transfer: ChainTransfer,
  order: Order,
  patience: Patience,
): Finding | undefined {
  const about = { order: order.id, transaction: transfer.transaction, found: transfer.amount }
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return isFresh(order.placedAt, patience)
        ? open('store', about)
        : differs('payment_not_booked', { ...about, onRecord: 0n })
    case 'PAYMENT_FAILED':
      return differs('payment_not_booked', { ...about, onRecord: 0n, detail: 'PAYMENT_FAILED' })
    default:
      return judgePaid(transfer, order)
  }
}

function judgePaid(transfer: ChainTransfer, order: PaidOrder): Finding | undefined {
  const { transaction, amount } = transfer
  const about = { order: order.id, transaction, onRecord: order.amount, found: amount }
  if (order.settlement === 'LOST') {
    return differs('payment_not_booked', {
      ...about,
      onRecord: 0n,
      detail: 'It counts as vanished.',
    })
  }
  if (amount !== order.amount || !same(transfer.to, order.tender.payTo)) {
    return differs('payment_differs', { ...about, detail: `It paid ${transfer.to}.` })
  }
  if (same(transaction, order.receipt.transaction)) return undefined
  const detail = `On record is ${order.receipt.transaction}.`
  return order.settlement === 'SEEN'
    ? open('store', { ...about, detail })
    : differs('payment_differs', { ...about, detail })
}

/** Judges a transfer with the refund nonce of this order against the order. */
export function judgeRefund(
  transfer: ChainTransfer,
  order: Order,
  patience: Patience,
): Finding | undefined {
  const { transaction, amount } = transfer
  const about = { order: order.id, transaction, onRecord: order.amount, found: amount }
  if (amount !== order.amount || !same(transfer.to, order.tender.payer)) {
    return differs('refund_differs', { ...about, detail: `It paid ${transfer.to}.` })
  }
  if (order.state === 'FULFILLED') return differs('delivered_and_refunded', about)
  const detail = isRefunding(order) ? `${order.state}, ${payoutStateOf(order)}` : order.state
  if (!isRefunding(order)) return differs('refund_not_booked', { ...about, onRecord: 0n, detail })
  if (order.payout?.state === 'CONFIRMED') {
    return same(order.payout.transaction, transaction)
      ? undefined
      : differs('refund_differs', { ...about, detail: `On record is ${order.payout.transaction}.` })
  }
  return payoutStateOf(order) === 'APPROVED' && isFresh(order.changedAt, patience)
    ? open('store', about)
    : differs('refund_not_booked', { ...about, onRecord: 0n, detail })
}

/** Judges a purchase at the supplier against the order that has its reference. */
export function judgeSupply(purchase: SupplierPurchase, order: Order): Finding | undefined {
  const about = { order: order.id, reference: purchase.reference, detail: costText(purchase) }
  if (purchase.kind !== order.item.kind) return differs('supplier_bought_twice', about)
  if (purchase.state === 'pending') {
    return order.state === 'FULFILLED' ? undefined : open('supplier', about)
  }
  if (purchase.state !== 'delivered' || order.state === 'FULFILLED') return undefined
  if (isUnderWay(order)) return open('store', about)
  return isRefunding(order)
    ? judgeLate(order, about)
    : differs('supplier_charged_but_not_delivered', about)
}

/** Judges goods for an order that was given up. A loss that is on record is no difference. */
function judgeLate(order: Refunding, about: { readonly detail: string }): Finding | undefined {
  switch (order.supply.state) {
    case 'OPEN':
      return open('store', about)
    case 'LOST':
      return undefined
    case 'NONE':
    case 'RETURNED':
      return differs('supplier_charged_but_not_delivered', {
        ...about,
        detail: `${about.detail}; on record is ${order.supply.state}`,
      })
  }
}

/** The transaction of an order's refund on record; undefined if it has none. */
export function refundOnRecord(order: Order): string | undefined {
  return isRefunding(order) && order.payout?.state === 'CONFIRMED'
    ? order.payout.transaction
    : undefined
}

export function isDelivered(order: Order): order is In<'FULFILLED'> {
  return order.state === 'FULFILLED'
}

export function costText({ kind, state, cost }: SupplierPurchase): string {
  return `${kind} ${state}, ${(cost.amount / cost.divisor).toFixed(2)} ${cost.currency}`
}

/** Whether it is so recent that the store may still be working on it. */
export function isFresh(since: Date, { now, strayAfterMs }: Patience): boolean {
  return now.getTime() - since.getTime() < strayAfterMs
}
