import type { Checkout } from '../../checkouts/checkout.ts'
import { type Order, type Refunding, refundStateOf } from '../../orders/order.ts'
import { noteTransaction, operatorPays } from '../../payments/pay-back-faults.ts'

/** The stage of an order, as its page shows it. */
export type OrderStage =
  /** In a checkout, and not paid yet. */
  | 'awaiting_payment'
  /** It is not known yet whether it was paid. */
  | 'checking_payment'
  /** It is proven that it was not paid, or the money is returned from the checkout. */
  | 'not_paid'
  /** The chain dropped the payment for good: there is nothing to deliver and nothing to refund. */
  | 'not_taken'
  | 'delivering'
  | 'delivered'
  | 'refunding'
  /** The coin can only be paid out by hand. */
  | 'refund_by_hand'
  /** An operator must act before the money can be refunded. */
  | 'refund_stuck'
  | 'refunded'

export function stageOfOrder(order: Order): OrderStage {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return 'checking_payment'
    case 'PAYMENT_FAILED':
      return 'not_paid'
    case 'PAID':
    case 'FULFILLING':
      return 'delivering'
    case 'FULFILLED':
      return 'delivered'
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      if (order.settlement === 'LOST' && order.payout?.state !== 'CONFIRMED') return 'not_taken'
      return refundStage(order)
  }
}

function refundStage(order: Refunding) {
  const state = refundStateOf(order)
  if (state === 'REFUNDED') return 'refunded'
  if (state !== 'REFUND_FAILED') return 'refunding'
  const code = order.payout?.state === 'FAILED' ? order.payout.code : undefined
  const isByHand = code === operatorPays || code === noteTransaction
  return isByHand ? 'refund_by_hand' : 'refund_stuck'
}

/** The stage before there is an order. */
export function stageOfCheckout({ state }: Checkout): OrderStage {
  if (state === 'OPENING' || state === 'OPEN') return 'awaiting_payment'
  return state === 'ORDERED' ? 'checking_payment' : 'not_paid'
}

const over: ReadonlySet<OrderStage> = new Set(['not_paid', 'not_taken', 'delivered', 'refunded'])

/** Whether the page of an order in this stage never changes again. */
export function isOver(stage: OrderStage): boolean {
  return over.has(stage)
}
