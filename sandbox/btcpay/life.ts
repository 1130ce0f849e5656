import { parseDecimal, unitsFor, worthDecimals, worthOf } from './amounts.ts'
import { coins } from './coins.ts'
import type { Invoice, Payment, Prompt } from './models.ts'
import type { StoreEvent } from './webhooks.ts'

export interface Totals {
  readonly price: bigint
  readonly paid: bigint
  readonly confirmed: bigint
  /** Negative when it is overpaid by more than rounding can explain. */
  readonly due: bigint
}

/** The totals of one payment method, in the smallest units of its coin. */
export interface PromptTotals {
  readonly amount: bigint
  readonly totalPaid: bigint
  readonly paidHere: bigint
  /** Negative when it is overpaid. */
  readonly due: bigint
}

export function totalsOf(invoice: Invoice): Totals {
  const price = priceOf(invoice)
  const paid = worthOfAll(invoice, invoice.payments)
  const isExact = invoice.prompts.some((prompt) => dueIn(prompt, price - paid) === 0n)
  return {
    price,
    paid,
    confirmed: worthOfAll(
      invoice,
      invoice.payments.filter(({ status }) => status === 'Settled'),
    ),
    due: paid > price && isExact ? 0n : price - paid,
  }
}

export function promptTotals(invoice: Invoice, prompt: Prompt): PromptTotals {
  const { price, paid } = totalsOf(invoice)
  const here = invoice.payments.filter(({ coin }) => coin === prompt.coin)
  const paidHere = here.reduce((sum, { units }) => sum + BigInt(units), 0n)
  const elsewhere = paid - worthOfAll(invoice, here)
  return {
    amount: dueIn(prompt, price),
    paidHere,
    totalPaid: paidHere + dueIn(prompt, elsewhere),
    due: dueIn(prompt, price - paid),
  }
}

function dueIn({ coin, rate }: Prompt, worth: bigint): bigint {
  return unitsFor(worth, coins[coin].decimals, rate)
}

function priceOf({ amount }: Invoice): bigint {
  return parseDecimal(amount, worthDecimals) ?? 0n
}

function worthOfAll({ prompts }: Invoice, payments: readonly Payment[]): bigint {
  return payments.reduce((sum, { coin, units }) => {
    const rate = prompts.find((prompt) => prompt.coin === coin)?.rate
    if (rate === undefined) throw new Error(`The invoice has no ${coin}.`)
    return sum + worthOf(BigInt(units), coins[coin].decimals, rate)
  }, 0n)
}

export interface Step {
  readonly invoice: Invoice
  readonly events: readonly StoreEvent[]
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
  const { price, paid, due } = totalsOf(invoice)
  if (paid < price) {
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
  const { price, confirmed } = totalsOf(invoice)
  if (confirmed >= price) {
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

export function markable({ status, additionalStatus }: Invoice): ('Settled' | 'Invalid')[] {
  const isMarked = additionalStatus === 'Marked'
  const mayInvalidate = isMarked ? status !== 'Invalid' : !/Settled|Invalid/.test(status)
  return [
    ...(status === 'Settled' ? [] : (['Settled'] as const)),
    ...(mayInvalidate ? (['Invalid'] as const) : []),
  ]
}

export function mark(invoice: Invoice, status: 'Settled' | 'Invalid'): Step {
  const event: StoreEvent =
    status === 'Settled'
      ? { type: 'InvoiceSettled', manuallyMarked: true, overPaid: totalsOf(invoice).due < 0n }
      : { type: 'InvoiceInvalid', manuallyMarked: true }
  return { invoice: { ...invoice, status, additionalStatus: 'Marked' }, events: [event] }
}
