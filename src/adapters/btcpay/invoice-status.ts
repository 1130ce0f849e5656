import {
  type Invoice,
  type InvoicePayment,
  isPaid,
  seenUnits,
  settledUnits,
} from '../../checkouts/checkout.ts'
import type { GreenfieldInvoice } from './schemas.ts'

type Status = Invoice['status']

/** What decides if BTCPay's statuses are not enough. */
export interface Judged {
  readonly units: bigint
  readonly expiresAt: Date
  readonly payments: readonly InvoicePayment[]
}

/**
 * The status of a checkout's invoice from BTCPay's two statuses; undefined if these contradict each other,
 * and then nothing is concluded.
 *
 * BTCPay moves an invoice from New to Processing when the full price was seen before it expired, and to
 * Settled when all of that is confirmed. Only then was it paid in full and in time. An expired invoice stays
 * Expired whatever arrives later, and is PaidLate if that would have been enough.
 */
export function statusOf(
  { status, additionalStatus }: Pick<GreenfieldInvoice, 'status' | 'additionalStatus'>,
  judged: Judged,
  now: Date,
): Status | undefined {
  switch (status) {
    case 'New':
      // PaidPartial: a part has arrived, and there is time for the rest.
      return among(additionalStatus, ['None', 'PaidPartial'], 'NEW')
    case 'Expired':
      // Paid in part, late or not at all: the time is over, and everything received goes back.
      return 'EXPIRED'
    case 'Invalid':
      // It was never confirmed, or an operator marked it as invalid: nothing is delivered for it.
      return 'INVALID'
    case 'Processing':
      return processing(additionalStatus)
    case 'Settled':
      return settled(additionalStatus, judged, now)
  }
}

function processing(additional: GreenfieldInvoice['additionalStatus']): Status | undefined {
  // Paid in full but late: treated as expired, because the buyer was told that it had expired.
  if (additional === 'PaidLate') return 'EXPIRED'
  return among(additional, ['None', 'PaidOver'], 'PROCESSING')
}

function settled(
  additional: GreenfieldInvoice['additionalStatus'],
  judged: Judged,
  now: Date,
): Status | undefined {
  switch (additional) {
    case 'None':
    case 'PaidOver':
      // Some confirmed money is required: an order that nothing was paid for could not be refunded.
      if (settledUnits(judged) === 0n) return undefined
      return isPaid(judged) ? 'SETTLED' : judgedByMoney(judged, now)
    case 'PaidLate':
      return 'EXPIRED'
    case 'Marked':
      return judgedByMoney(judged, now)
    default:
      return undefined
  }
}

/**
 * An operator marked the invoice as settled, which is not a payment, or BTCPay calls it settled for much less than
 * its price: goods are delivered only for confirmed money that arrived in time. Late money goes back even if the
 * operator would accept it, because the checkout told the buyer so when its time was over.
 */
function judgedByMoney({ units, expiresAt, payments }: Judged, now: Date): Status {
  const inTime = { payments: payments.filter(({ receivedAt }) => receivedAt <= expiresAt) }
  if (settledUnits(inTime) >= units) return 'SETTLED'
  if (seenUnits(inTime) >= units) return 'PROCESSING'
  return now > expiresAt ? 'EXPIRED' : 'NEW'
}

function among<T>(one: T, these: readonly T[], status: Status): Status | undefined {
  return these.includes(one) ? status : undefined
}
