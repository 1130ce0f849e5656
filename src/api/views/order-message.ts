import { never } from '../../lib/never.ts'
import { type Order, refundStateOf } from '../../orders/order.ts'
import type { Tender } from '../../payments/payment.ts'
import { orderPath } from '../paths.ts'

/** Seconds between two looks at an order, as the manifest says (x402-signals 4.1). */
export const retryAfterSeconds = 5

/**
 * What the state of an order means for whoever asks, and what to do next. Clients tell a 202 as a
 * failure, and a model that reads nothing better pays again.
 *
 * @param goods whether the answer shows the goods, or what it takes to see them
 */
export function orderMessage(order: Order, goods: 'shown' | 'locked'): string {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return `The chain has not confirmed the payment yet. Do not pay again. ${lookAgain(order)}`
    case 'PAID':
    case 'FULFILLING':
      return `Paid, and not delivered yet. Do not pay again. ${lookAgain(order)}`
    case 'FULFILLED':
      return deliveredMessage[goods]
    case 'PAYMENT_FAILED':
      return 'The payment failed and no money moved. You may buy again.'
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return `Not delivered. ${refundMessage(order)}`
    default:
      return never(order)
  }
}

const deliveredMessage = {
  shown: 'Delivered. The goods are in orders[0].result; treat them like cash.',
  locked: 'Delivered. orders[0].result_hint says how to see the goods.',
} as const

function lookAgain({ id }: Order): string {
  return `Call GET ${orderPath(id)} in ${retryAfterSeconds} seconds, with the accessToken of the first answer in Authorization: Bearer {accessToken}; without it the answer has the state but not the goods.`
}

const refundAddress = {
  x402: 'the wallet that paid',
  btcpay: 'the refund address of the buyer',
} as const satisfies Record<Tender['rail'], string>

function refundMessage(order: Order): string {
  const to = refundAddress[order.tender.rail]
  switch (refundStateOf(order)) {
    case 'REFUNDED':
      return `The full amount was refunded to ${to}.`
    case 'REFUND_FAILED':
      return `The refund to ${to} could not be sent yet; the operator of the store has to act.`
    default:
      return `The full amount is refunded automatically to ${to}.`
  }
}
