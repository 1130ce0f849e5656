import { promptTotals } from './accounting.ts'
import { formatDecimal, parseDecimal } from './amounts.ts'
import { coins, type Ticker } from './coins.ts'
import type { Deps } from './deps.ts'
import { invalid } from './errors.ts'
import type { InvoiceEvent } from './events.ts'
import { nextTransaction } from './ids.ts'
import { invoiceOf, isWaiting, keep, waitingAt } from './invoices.ts'
import type { ChainTransaction, Invoice, Payment, Prompt } from './models.ts'
import { paymentView } from './views.ts'

export interface Payer {
  /** Left out where the invoice has one coin, or for its first one. */
  readonly coin?: Ticker | undefined
  /** In smallest units; what is due when left out, or the whole price when nothing is. */
  readonly units?: bigint | undefined
  /** Lets the invoice expire first. */
  readonly late?: boolean | undefined
  /** False holds the confirmations back until they are asked for. */
  readonly confirm?: boolean | undefined
}

export interface Paid {
  readonly invoice: Invoice
  readonly transaction: string
  /** False when the invoice is not watched any more: the money came, and nobody looked. */
  readonly isSeen: boolean
}

/** Reads "0.001" as smallest units of the coin. @throws ApiError 422 when it is no such amount */
export function unitsOf(amount: string, coin: Ticker): bigint {
  const { decimals } = coins[coin]
  const units = parseDecimal(amount, decimals)
  if (units !== undefined && units > 0n) return units
  const least = formatDecimal(1n, decimals)
  throw invalid('amount', `"${amount}" is no amount of ${coin}; the least is "${least}".`)
}

/** Somebody sends coins to the address of an invoice. */
export function pay(deps: Deps, id: string, payer: Payer, now: number): Paid {
  const invoice = payer.late ? expire(deps, id, now) : invoiceOf(deps, id)
  const prompt = promptFor(invoice, payer.coin)
  const units = payer.units ?? usualUnits(invoice, prompt)
  const transaction = received(deps, invoice, prompt, units, now)
  deps.ledger.commit(transaction)
  const seenFor = coins[prompt.coin].isPooled
    ? waitingAt(deps, prompt.coin, prompt.address)
    : invoice.monitoredUntil > now && invoice
  if (!seenFor) return { invoice, transaction: transaction.id, isSeen: false }
  const payment: Payment = {
    id: paymentId(prompt.coin, transaction.id, invoice.index),
    coin: prompt.coin,
    transaction: transaction.id,
    units: String(units),
    receivedAt: now,
    status: 'Processing',
    ...(payer.confirm === false ? {} : { confirmAt: now + deps.settings.confirmMs }),
  }
  const event = seen('InvoiceReceivedPayment', seenFor, prompt, payment)
  const paid = { ...seenFor, payments: [...seenFor.payments, payment] }
  const kept = keep(deps, { invoice: paid, events: [event] }, now)
  scheduleConfirmations(deps, kept, now)
  return { invoice: kept, transaction: transaction.id, isSeen: true }
}

function promptFor(invoice: Invoice, coin: Ticker | undefined): Prompt {
  const prompt = invoice.prompts.find((one) => coin === undefined || one.coin === coin)
  if (!prompt) throw invalid('coin', `The invoice cannot be paid in ${coin}.`)
  return prompt
}

function usualUnits(invoice: Invoice, prompt: Prompt): bigint {
  const { amount, due } = promptTotals(invoice, prompt)
  return due > 0n ? due : amount
}

function received(
  deps: Deps,
  invoice: Invoice,
  { coin, address }: Prompt,
  units: bigint,
  now: number,
): ChainTransaction {
  return {
    type: 'transaction',
    id: nextTransaction(deps, coin),
    coin,
    direction: 'in',
    units: String(units),
    fee: '0',
    address,
    at: now,
    subject: invoice.id,
  }
}

/** The real server names a payment after its transaction and where in it the money is. */
function paymentId(coin: Ticker, transaction: string, index: number): string {
  if (coin === 'XMR') return `${transaction}#0#${index + 1}`
  return coin === 'BTC' || coin === 'LTC' ? `${transaction}-0` : transaction
}

function seen(
  type: 'InvoiceReceivedPayment' | 'InvoicePaymentSettled',
  invoice: Invoice,
  prompt: Prompt,
  payment: Payment,
): InvoiceEvent {
  return {
    type,
    afterExpiration: invoice.status === 'Expired' || invoice.status === 'Invalid',
    paymentMethodId: coins[prompt.coin].methodId,
    payment: paymentView(payment, prompt.address),
  }
}

/** Gives the payments their confirmations: those that are due, or all of them by hand. */
export function confirm(
  deps: Deps,
  id: string,
  now: number,
  isDue: (payment: Payment) => boolean = () => true,
): Invoice {
  const invoice = invoiceOf(deps, id)
  const events: InvoiceEvent[] = []
  const payments = invoice.payments.map((payment) => {
    if (payment.status === 'Settled' || !isDue(payment)) return payment
    // A plugin with a list counts confirmations only while the invoice waits.
    if (coins[payment.coin].isPooled && !isWaiting(invoice.status)) return payment
    const settled = { ...payment, status: 'Settled' } as const
    events.push(seen('InvoicePaymentSettled', invoice, promptFor(invoice, payment.coin), settled))
    return settled
  })
  return events.length === 0
    ? invoice
    : keep(deps, { invoice: { ...invoice, payments }, events }, now)
}

/** Wakes up for each payment that waits for its confirmations. */
export function scheduleConfirmations(deps: Deps, invoice: Invoice, now: number): void {
  for (const { id, status, confirmAt } of invoice.payments) {
    if (status === 'Settled' || confirmAt === undefined) continue
    deps.timers.set(`payment ${id}`, confirmAt - now, () => {
      confirm(deps, invoice.id, Date.now(), (payment) => payment.id === id)
    })
  }
}

/**
 * As if the time of the invoice had passed, a second ago: Greenfield counts whole ones, and what comes
 * now must not seem to be in time. An invoice that was paid or has ended stays as it is.
 */
export function expire(deps: Deps, id: string, now: number): Invoice {
  const invoice = invoiceOf(deps, id)
  if (invoice.status !== 'New') return invoice
  // What came before was in time, and whatever comes in the same second as this is not.
  const received = invoice.payments.map(({ receivedAt }) => receivedAt)
  const expiresAt = Math.max(now - 1_000, ...received)
  const monitoredUntil = expiresAt + invoice.monitoredUntil - invoice.expiresAt
  const over = { ...invoice, expiresAt, monitoredUntil }
  return keep(deps, { invoice: over, events: [] }, now)
}

/** As if the time in which payments are looked for had passed as well. */
export function forget(deps: Deps, id: string, now: number): Invoice {
  const invoice = expire(deps, id, now)
  return keep(deps, { invoice: { ...invoice, monitoredUntil: now }, events: [] }, now)
}
