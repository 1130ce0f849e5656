import { parseDecimal, unitsFor, worthDecimals, worthOf } from './amounts.ts'
import { coins } from './coins.ts'
import type { Invoice, Payment, Prompt } from './models.ts'
import type { StoreEvent } from './webhooks.ts'

export interface Totals {
  readonly price: bigint
  /** Without its fees, which count for nothing. */
  readonly paid: bigint
  readonly fees: bigint
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
  /** The fees of the payments that came, and of the one that is missing. */
  readonly fee: bigint
}

export function totalsOf(invoice: Invoice): Totals {
  const price = priceOf(invoice)
  const counted = invoice.payments.filter(({ status }) => status !== 'Invalid')
  const fees = worthOfAll(invoice, counted, ({ fee = '0' }) => fee)
  const paid = worthOfAll(invoice, counted) - fees
  const isExact = invoice.prompts.some((prompt) => dueIn(prompt, price - paid) === 0n)
  return {
    ...{ price, paid, fees },
    confirmed: worthOfAll(
      invoice,
      counted.filter(({ status }) => status === 'Settled'),
      ({ units, fee = '0' }) => String(BigInt(units) - BigInt(fee)),
    ),
    due: paid > price && isExact ? 0n : price - paid,
  }
}

export function promptTotals(invoice: Invoice, prompt: Prompt): PromptTotals {
  const { price, paid, fees } = totalsOf(invoice)
  const here = invoice.payments.filter(
    ({ coin, status }) => coin === prompt.coin && status !== 'Invalid',
  )
  const paidHere = here.reduce((sum, { units }) => sum + BigInt(units), 0n)
  const elsewhere = paid + fees - worthOfAll(invoice, here)
  const { decimals } = coins[prompt.coin]
  const nextFee = paid < price ? worthOf(BigInt(prompt.fee ?? 0), decimals, prompt.rate) : 0n
  return {
    amount: dueIn(prompt, price + fees + nextFee),
    paidHere,
    totalPaid: paidHere + dueIn(prompt, elsewhere),
    due: dueIn(prompt, price + nextFee - paid),
    fee: dueIn(prompt, fees + nextFee),
  }
}

function dueIn({ coin, rate }: Prompt, worth: bigint): bigint {
  return unitsFor(worth, coins[coin].decimals, rate)
}

function priceOf({ amount }: Invoice): bigint {
  return parseDecimal(amount, worthDecimals) ?? 0n
}

function worthOfAll(
  { prompts }: Invoice,
  payments: readonly Payment[],
  unitsOf: (payment: Payment) => string = ({ units }) => units,
): bigint {
  return payments.reduce((sum, payment) => {
    const { coin } = payment
    const rate = prompts.find((prompt) => prompt.coin === coin)?.rate
    if (rate === undefined) throw new Error(`The invoice has no ${coin}.`)
    return sum + worthOf(BigInt(unitsOf(payment)), coins[coin].decimals, rate)
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
    return hasPayment(payments)
      ? { invoice: { ...invoice, additionalStatus: 'PaidPartial' }, events: [] }
      : { invoice, events: [] }
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

function hasPayment(payments: readonly Payment[]): boolean {
  return payments.some(({ status }) => status !== 'Invalid')
}

/** A payment may have come on top since, or been replaced: then the invoice is new again, without an event. */
function recount(invoice: Invoice): Step {
  if (invoice.status !== 'Processing') return { invoice, events: [] }
  const { price, paid, due } = totalsOf(invoice)
  if (paid < price) {
    const additionalStatus = hasPayment(invoice.payments) ? 'PaidPartial' : 'None'
    return { invoice: { ...invoice, status: 'New', additionalStatus }, events: [] }
  }
  return { invoice: { ...invoice, additionalStatus: due < 0n ? 'PaidOver' : 'None' }, events: [] }
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
