import type { Charge } from '../catalog/offer.ts'
import type { OrderId } from '../lib/ids.ts'
import {
  isRefunding,
  isUnderWay,
  type Order,
  type PaidOrder,
  type Refunding,
} from '../orders/order.ts'
import type { Payout } from '../orders/payout.ts'
import type { Goodwill } from '../orders/ports.ts'
import { same } from '../payments/payment.ts'
import type { SupplierPurchase } from '../suppliers/supplier.ts'
import { type About, differs, type Finding, openItem } from './differences.ts'
import type { ChainTransfer } from './ports.ts'

export interface Patience {
  readonly now: Date
  /** Anything younger may still be under way; milliseconds. */
  readonly strayAfterMs: number
}

export function judgePayment(
  transfer: ChainTransfer,
  order: Order,
  patience: Patience,
): Finding | undefined {
  const about = { order: order.id, transaction: transfer.transaction, found: transfer.amount }
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return isFresh(order.placedAt, patience)
        ? openItem('store', about)
        : differs('payment_not_booked', { ...about, onRecord: 0n })
    case 'PAYMENT_FAILED':
      return differs('payment_not_booked', { ...about, onRecord: 0n, detail: 'PAYMENT_FAILED' })
    default:
      return judgeBooked(transfer, order)
  }
}

function judgeBooked(transfer: ChainTransfer, order: PaidOrder): Finding | undefined {
  const { transaction, amount } = transfer
  const about = { order: order.id, transaction, onRecord: order.amount, found: amount }
  if (order.settlement === 'LOST') {
    return differs('payment_not_booked', {
      ...about,
      onRecord: 0n,
      detail: 'It counts as vanished.',
    })
  }
  if (amount !== order.amount || !same(transfer.to, order.payment.payTo)) {
    return differs('payment_differs', { ...about, detail: `It paid ${transfer.to}.` })
  }
  if (same(transaction, order.receipt.transaction)) return undefined
  const detail = `On record is ${order.receipt.transaction}.`
  return order.settlement === 'SEEN'
    ? openItem('store', { ...about, detail })
    : differs('payment_differs', { ...about, detail })
}

export interface Debt {
  readonly kind: 'refund' | 'goodwill'
  readonly order: OrderId
  readonly amount: bigint
  readonly to: string
  readonly payout: Payout | undefined
  readonly changedAt: Date
}

export function refundDebt(order: Order): Debt {
  const { id, amount, payment, changedAt } = order
  const payout = isRefunding(order) ? order.payout : undefined
  return { kind: 'refund', order: id, amount, to: payment.payer, payout, changedAt }
}

export function goodwillDebt({ id, amount, payment, payout, changedAt }: Goodwill): Debt {
  return { kind: 'goodwill', order: id, amount, to: payment.payer, payout, changedAt }
}

export function isPaymentOf({ amount, to }: ChainTransfer, debt: Debt): boolean {
  return amount === debt.amount && same(to, debt.to)
}

export function judgePaid(
  transfer: ChainTransfer,
  debt: Debt,
  patience: Patience,
): Finding | undefined {
  const { kind, order, amount, payout } = debt
  const { transaction, to } = transfer
  const about = { order, transaction, onRecord: amount, found: transfer.amount }
  if (!isPaymentOf(transfer, debt)) {
    return differs(`${kind}_differs`, { ...about, detail: `It paid ${to}.` })
  }
  if (payout?.state === 'CONFIRMED') {
    const detail = `On record is ${payout.transaction}.`
    return same(payout.transaction, transaction)
      ? undefined
      : differs(`${kind}_differs`, { ...about, detail })
  }
  return payout?.state === 'APPROVED' && isFresh(debt.changedAt, patience)
    ? openItem('store', about)
    : differs(`${kind}_not_booked`, { ...about, onRecord: 0n, detail: payout?.state ?? 'WAITING' })
}

export function judgeNamed(
  transfer: ChainTransfer | undefined,
  debt: Debt,
  transaction: string,
): Finding | undefined {
  const { kind, order, amount } = debt
  const about = { order, transaction, onRecord: amount, found: transfer?.amount ?? 0n }
  if (!transfer) return differs(`${kind}_booked_not_on_chain`, about)
  return isPaymentOf(transfer, debt)
    ? undefined
    : differs(`${kind}_differs`, { ...about, detail: `It paid ${transfer.to}.` })
}

export function judgeRefund(
  transfer: ChainTransfer,
  order: Order,
  patience: Patience,
): Finding | undefined {
  const debt = refundDebt(order)
  if (isRefunding(order) || !isPaymentOf(transfer, debt)) return judgePaid(transfer, debt, patience)
  const { transaction, amount } = transfer
  const about = { order: order.id, transaction, found: amount }
  return order.state === 'FULFILLED'
    ? differs('delivered_and_refunded', { ...about, onRecord: order.amount })
    : differs('refund_not_booked', { ...about, onRecord: 0n, detail: order.state })
}

export function judgeSupply(purchase: SupplierPurchase, order: Order): Finding | undefined {
  const about = { order: order.id, reference: purchase.reference, detail: costText(purchase) }
  if (purchase.kind !== order.item.kind) return differs('supplier_bought_twice', about)
  if (purchase.state === 'pending') {
    return order.state === 'FULFILLED' ? undefined : openItem('supplier', about)
  }
  if (purchase.state !== 'delivered') return undefined
  if (order.state === 'FULFILLED') return judgeCharge(purchase, order.charge, about)
  if (isUnderWay(order)) return openItem('store', about)
  return isRefunding(order)
    ? judgeLate(order, about)
    : differs('supplier_charged_but_not_delivered', about)
}

/** A charge that either of them does not say is not compared. */
function judgeCharge({ cost }: SupplierPurchase, charge: Charge | undefined, about: About) {
  const isSame =
    charge === undefined ||
    cost.currency === '?' ||
    (charge.currency === cost.currency &&
      charge.amount * cost.divisor === cost.amount * charge.divisor)
  if (isSame) return undefined
  const recorded = `${(charge.amount / charge.divisor).toFixed(2)} ${charge.currency}`
  return differs('charge_differs', { ...about, detail: `${about.detail}; on record ${recorded}` })
}

/** A loss that is on record is no difference. */
function judgeLate(order: Refunding, about: { readonly detail: string }): Finding | undefined {
  switch (order.supply.state) {
    case 'OPEN':
      return openItem('store', about)
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

export function costText({ kind, state, cost }: SupplierPurchase): string {
  return `${kind} ${state}, ${(cost.amount / cost.divisor).toFixed(2)} ${cost.currency}`
}

export function isFresh(since: Date, { now, strayAfterMs }: Patience): boolean {
  return now.getTime() - since.getTime() < strayAfterMs
}
