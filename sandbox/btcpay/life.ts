import { totalsOf } from './accounting.ts'
import type { InvoiceEvent } from './events.ts'
import type { Invoice } from './models.ts'

export interface Step {
  readonly invoice: Invoice
  readonly events: readonly InvoiceEvent[]
}

/**
 * Moves an invoice as far as its payments and the time allow. The rules have the order of the real server: a payment
 * after the expiration leaves the invoice expired, and is only noted.
 */
export function watch(invoice: Invoice, now: number): Step {
  let step: Step = { invoice, events: [] }
  for (const rule of [expire, receive, recount, conclude]) {
    const { invoice: next, events } = rule(step.invoice, now)
    step = { invoice: next, events: [...step.events, ...events] }
  }
  return step
}

function expire(invoice: Invoice, now: number): Step {
  if (invoice.status !== 'New' || invoice.expiresAt > now) return { invoice, events: [] }
  const partiallyPaid = invoice.additionalStatus === 'PaidPartial'
  return {
    invoice: { ...invoice, status: 'Expired' },
    events: [
      { type: 'InvoiceExpired', partiallyPaid },
      ...(partiallyPaid ? [{ type: 'InvoiceExpiredPaidPartial' } as const] : []),
    ],
  }
}

function receive(invoice: Invoice): Step {
  const { status, additionalStatus, payments } = invoice
  if (status !== 'New' && status !== 'Expired') return { invoice, events: [] }
  const { paid, least, due } = totalsOf(invoice)
  if (paid < least) {
    return payments.length === 0
      ? { invoice, events: [] }
      : { invoice: { ...invoice, additionalStatus: 'PaidPartial' }, events: [] }
  }
  if (status === 'New') {
    const overPaid = due < 0n
    return {
      invoice: {
        ...invoice,
        status: 'Processing',
        additionalStatus: overPaid ? 'PaidOver' : 'None',
      },
      events: [{ type: 'InvoiceProcessing', overPaid }],
    }
  }
  return additionalStatus === 'PaidLate'
    ? { invoice, events: [] }
    : {
        invoice: { ...invoice, additionalStatus: 'PaidLate' },
        events: [{ type: 'InvoicePaidAfterExpiration' }],
      }
}

function recount(invoice: Invoice): Step {
  const isOver = invoice.status === 'Processing' && totalsOf(invoice).due < 0n
  return { invoice: isOver ? { ...invoice, additionalStatus: 'PaidOver' } : invoice, events: [] }
}

function conclude(invoice: Invoice, now: number): Step {
  if (invoice.status !== 'Processing') return { invoice, events: [] }
  const { confirmed, least } = totalsOf(invoice)
  if (confirmed >= least) {
    const overPaid = invoice.additionalStatus === 'PaidOver'
    return {
      invoice: { ...invoice, status: 'Settled' },
      events: [{ type: 'InvoiceSettled', manuallyMarked: false, overPaid }],
    }
  }
  if (invoice.monitoredUntil > now) return { invoice, events: [] }
  return {
    invoice: { ...invoice, status: 'Invalid' },
    events: [{ type: 'InvoiceInvalid', manuallyMarked: false }],
  }
}

/** The statuses that an operator may set by hand. */
export function markable({ status, additionalStatus }: Invoice): ('Settled' | 'Invalid')[] {
  const isMarked = additionalStatus === 'Marked'
  const mayInvalidate = isMarked ? status !== 'Invalid' : !/Settled|Invalid/.test(status)
  return [
    ...(status === 'Settled' ? [] : (['Settled'] as const)),
    ...(mayInvalidate ? (['Invalid'] as const) : []),
  ]
}

export function mark(invoice: Invoice, status: 'Settled' | 'Invalid'): Step {
  const event: InvoiceEvent =
    status === 'Settled'
      ? { type: 'InvoiceSettled', manuallyMarked: true, overPaid: totalsOf(invoice).due < 0n }
      : { type: 'InvoiceInvalid', manuallyMarked: true }
  return { invoice: { ...invoice, status, additionalStatus: 'Marked' }, events: [event] }
}
