import { never } from '../../lib/never.ts'
import { isRefunding, type Order, type PaidOrder, type Refunding } from '../../orders/order.ts'
import { blockOf } from '../../payments/payment.ts'
import { refundRowOf } from './payout-row.ts'
import { storable } from './storable.ts'

/** One entry in the history of an order. The detail is JSON text. */
export interface OrderEvent {
  readonly refundStep: string | null
  readonly detail: string
}

/**
 * The entry for the present state of an order: codes, transactions and steps. Free text is left out,
 * because a supplier or carrier may repeat the buyer's phone number in it, and the history is never erased.
 */
export function eventOf(order: Order): OrderEvent {
  const refundStep = isRefunding(order) ? refundRowOf(order).step : null
  return { refundStep, detail: JSON.stringify(storable(detailOf(order))) }
}

function detailOf(order: Order): object {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return {}
    case 'FULFILLED':
      return order.charge ? { charge: order.charge } : {}
    case 'PAYMENT_FAILED':
      return { code: order.code }
    case 'PAID':
      return paidDetail(order)
    case 'FULFILLING':
      return { ...paidDetail(order), ...askedDetail(order) }
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return givenUpDetail(order)
    default:
      return never(order)
  }
}

function paidDetail({ receipt }: PaidOrder): object {
  return { transaction: receipt.transaction, block: blockOf(receipt) }
}

function askedDetail({
  askedAgainAt,
  acceptedAt,
}: Pick<Refunding, 'askedAgainAt' | 'acceptedAt'>): object {
  return {
    ...(askedAgainAt === undefined ? {} : { askedAgain: true }),
    ...(acceptedAt === undefined ? {} : { accepted: true }),
  }
}

function givenUpDetail(order: Refunding): object {
  const { failure, payout, supply } = order
  return {
    trigger: failure.trigger,
    ...(failure.code === undefined ? {} : { code: failure.code }),
    supply: supply.state,
    ...askedDetail(order),
    ...(payout?.state === 'CONFIRMED' ? { transaction: payout.transaction } : {}),
    ...(payout?.state === 'FAILED' ? { refundCode: payout.code } : {}),
  }
}
