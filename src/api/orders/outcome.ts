import { type FaceValue, faceValueFor } from '../../catalog/face-value.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import { kindOf, type Recipient, worthOf } from '../../catalog/offer.ts'
import { never } from '../../lib/errors.ts'
import { formatUsdc } from '../../lib/money.ts'
import { isPaid, type Order, refundStateOf } from '../../orders/order.ts'
import type { Payment } from '../../payments/payment.ts'
import { offerWords } from '../buying/payment-required.ts'
import type { Site } from '../operation.ts'

/** What only the owner of a delivered order is told. */
export interface Delivered {
  /** Undefined once it was erased. */
  readonly recipient?: Recipient | undefined
  readonly credited?: FaceValue | undefined
}

interface Telling extends Delivered {
  readonly site: Pick<Site, 'contact'>
  readonly pollAdvice: string
  /** How to come to the goods. */
  readonly delivered: string
}

/**
 * The outcome in sentences, for callers who read nothing else. Clients report a 202 as a failure, and a model that
 * reads nothing better pays again.
 */
export function orderMessage(order: Order, telling: Telling): string {
  const { pollAdvice, delivered } = telling
  const bought = inWords(order, telling)
  const price = `${formatUsdc(order.amount)} USDC`
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return `The chain has not confirmed the payment yet: ${bought} for ${price}. Do not pay again. ${pollAdvice}`
    case 'PAID':
    case 'FULFILLING':
      return `Paid, and not delivered yet: ${bought} for ${price}. Do not pay again. ${pollAdvice}`
    case 'FULFILLED':
      return `Delivered: ${bought}, ${price} paid. ${delivered}`.trim()
    case 'PAYMENT_FAILED':
      return 'The payment failed and no money moved. You may buy again.'
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return `Not delivered: ${bought} for ${price}. ${refundMessage(order)} ${helpFor(order, telling.site)}`
    default:
      return never(order)
  }
}

/** Where a person can complain, and what to name there. */
export function helpFor({ id }: Pick<Order, 'id'>, { contact }: Pick<Site, 'contact'>): string {
  return `For help write to ${contact} and name ${id}.`
}

/** "a 10.00 EUR Vodafone topup (ES) for the number +34600123456" */
function inWords({ item }: Order, { recipient, credited }: Telling): string {
  const { kind, brandName, country, value, shown } = item
  const listed = shown && faceValueFor(worthOf({ kind, ...shown }), value)
  const definition: KindDefinition = kindOf(item)
  const words = offerWords({ brandName, country, face: credited ?? listed })
  const given = recipient && definition.givenTo?.(recipient)
  const goods = definition.inWords(words, recipient ?? {})
  return given === undefined ? goods : `${goods} for ${given}`
}

const refundAddress = {
  x402: 'the wallet that paid',
  btcpay: 'the refund address of the buyer',
} as const satisfies Record<Payment['method'], string>

function refundMessage(order: Order): string {
  const to = refundAddress[order.payment.method]
  const state = refundStateOf(order)
  if (state !== 'REFUNDED' && !isPaid(order)) {
    return 'The chain dropped the payment for good: no money moved, and none is refunded. You may buy again.'
  }
  switch (state) {
    case 'REFUNDED':
      return `The full amount was refunded to ${to}.`
    case 'REFUND_FAILED':
      return `The refund to ${to} could not be sent yet; the operator of the store has to act.`
    default:
      return `The full amount is refunded automatically to ${to}.`
  }
}
