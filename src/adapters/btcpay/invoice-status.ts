import {
  type Invoice,
  type InvoicePayment,
  seenUnits,
  settledUnits,
} from '../../checkouts/checkout.ts'
import type { GreenfieldInvoice } from './schemas.ts'

type Status = Invoice['status']

/** What decides where BTCPay's own word is not enough. */
export interface Judged {
  readonly units: bigint
  readonly expiresAt: Date
  readonly payments: readonly InvoicePayment[]
}

/**
 * What BTCPay's pair of statuses means to a checkout; undefined for a pair that contradicts itself,
 * of which nothing is concluded.
 *
 * BTCPay moves an invoice from New to Processing when everything is seen before it expires, and to
 * Settled when all of that is confirmed: only then was it paid in full and in time. An invoice that
 * expired stays Expired whatever comes afterwards, and says PaidLate when that would have been enough.
 */
export function statusOf(
  { status, additionalStatus }: Pick<GreenfieldInvoice, 'status' | 'additionalStatus'>,
  judged: Judged,
  now: Date,
): Status | undefined {
  switch (status) {
    case 'New':
      // PaidPartial: something came, and there is time for the rest.
      return among(additionalStatus, ['None', 'PaidPartial'], 'NEW')
    case 'Expired':
      // Partly paid, paid late or not at all: the time is over, and all that came goes back.
      return 'EXPIRED'
    case 'Invalid':
      // It was never confirmed, or an operator said so by hand: nothing is delivered for it.
      return 'INVALID'
    case 'Processing':
      return processing(additionalStatus)
    case 'Settled':
      return settled(additionalStatus, judged, now)
  }
}

function processing(additional: GreenfieldInvoice['additionalStatus']): Status | undefined {
  // In full, but not in time: as if it had expired, because the buyer was told so.
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
      // Confirmed money has to be there: an order that nothing was paid for could not be refunded.
      return settledUnits(judged) > 0n ? 'SETTLED' : undefined
    case 'PaidLate':
      return 'EXPIRED'
    case 'Marked':
      return judgedByMoney(judged, now)
    default:
      return undefined
  }
}

/**
 * An operator called the invoice settled by hand. That is no money: goods are delivered for what
 * came in time and was confirmed, and for nothing else. Late money goes back although somebody would
 * have let it pass, because the checkout said so to the buyer when its time was over.
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
