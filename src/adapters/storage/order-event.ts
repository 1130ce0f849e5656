import type { Order, Refunding } from '../../orders/order.ts'
import { blockOf } from '../../payments/payment.ts'
import { never } from '../../primitives/never.ts'
import { storable } from './storable.ts'

/** One line of an order's history. The detail is JSON text. */
export interface OrderEvent {
  readonly refundStep: string | null
  readonly detail: string
}

/**
 * What the history says of an order at this moment: codes, transactions and steps. Free text is
 * left out, since a supplier's or carrier's sentence may repeat the buyer's phone number, and the
 * history is never erased.
 */
export function eventOf(order: Order): OrderEvent {
  const refundStep = 'refund' in order ? order.refund.step : null
  return { refundStep, detail: JSON.stringify(storable(detailOf(order))) }
}

function detailOf(order: Order): object {
  switch (order.state) {
    case 'PAYMENT_PENDING':
    case 'FULFILLED':
      return {}
    case 'PAYMENT_FAILED':
      return { code: order.code }
    case 'PAID':
    case 'FULFILLING':
      return { transaction: order.receipt.transaction, block: blockOf(order.receipt) }
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return givenUpDetail(order)
    default:
      return never(order)
  }
}

function givenUpDetail({ failure, refund, supply }: Refunding): object {
  return {
    trigger: failure.trigger,
    code: failure.code,
    supply: supply.state,
    ...(refund.step === 'REFUNDED' ? { transaction: refund.transaction } : {}),
    ...(refund.step === 'FAILED' ? { refundCode: refund.code } : {}),
  }
}
