import { promptTotals } from './accounting.ts'
import { formatDecimal, parseDecimal } from './amounts.ts'
import { coins, type Ticker } from './coins.ts'
import type { Deps } from './deps.ts'
import { invalid } from './errors.ts'
import type { InvoiceEvent } from './events.ts'
import { hashOf, nextTransaction, placeOf, transferId } from './ids.ts'
import { invoiceOf, isWaiting, keep, waitingAt } from './invoices.ts'
import type { ChainTransaction, Invoice, Payment, Prompt, UnseenPayment } from './models.ts'
import { paymentView } from './views.ts'

export interface Payer {
  /** Absent: the first coin of the invoice. */
  readonly coin?: Ticker | undefined
  /** In smallest units. Absent: what is due, or the whole price if nothing is due. */
  readonly units?: bigint | undefined
  /** Lets the invoice expire first. */
  readonly late?: boolean | undefined
  /** False holds the confirmations back until they are requested. */
  readonly confirm?: boolean | undefined
}

export interface Paid {
  readonly invoice: Invoice
  readonly transaction: string
  /** False if the payment was not seen because nobody watches the invoice's address. */
  readonly isSeen: boolean
}

/** Reads "0.001" as smallest units of the coin. @throws ApiError 422 if it is not such an amount */
export function unitsOf(amount: string, coin: Ticker): bigint {
  const { decimals } = coins[coin]
  const units = parseDecimal(amount, decimals)
  if (units !== undefined && units > 0n) return units
  const least = formatDecimal(1n, decimals)
  throw invalid('amount', `"${amount}" is no amount of ${coin}; the least is "${least}".`)
}

/** Sends coins to the address of an invoice. */
export function pay(deps: Deps, id: string, payer: Payer, now: number): Paid {
  const [paid] = payTogether(deps, [{ ...payer, invoice: id }], now)
  if (!paid) throw new Error('One transfer was made and none came back.')
  return paid
}

/** One transfer of a transaction that has several, as exchanges make them. */
export interface Transfer extends Payer {
  readonly invoice: string
}

/** Sends coins in one transaction to the addresses of several invoices, or several times to one. */
export function payTogether(
  deps: Deps,
  transfers: readonly Transfer[],
  now: number,
): readonly Paid[] {
  const sent = transfers.map(({ invoice: id, ...payer }) => {
    const invoice = payer.late ? expire(deps, id, now) : invoiceOf(deps, id)
    const prompt = promptFor(invoice, payer.coin)
    return { invoice, prompt, payer, units: payer.units ?? usualUnits(invoice, prompt) }
  })
  const coin = sent[0]?.prompt.coin
  if (coin === undefined || sent.some(({ prompt }) => prompt.coin !== coin)) {
    throw invalid('transfers', 'A transaction has transfers of one coin.')
  }
  const hash = nextTransaction(deps, coin)
  return sent.map(({ invoice, prompt, payer, units }, place) => {
    const transfer = received(invoice, prompt, { id: transferId(hash, place), units, now })
    deps.ledger.commit(transfer)
    const seenBy = lookedFor(deps, { transfer: transfer.id, confirm: payer.confirm !== false }, now)
    return {
      invoice: seenBy ?? invoiceOf(deps, invoice.id),
      transaction: hash,
      isSeen: seenBy !== undefined,
    }
  })
}

/** Looks for a transfer; while the chains' nodes are down, notes it as unseen. */
function lookedFor(deps: Deps, payment: UnseenPayment, now: number): Invoice | undefined {
  const settings = deps.ledger.settings()
  if (settings.unseen === undefined) return found(deps, payment, now)
  deps.ledger.commit({ ...settings, unseen: [...settings.unseen, payment] })
  return undefined
}

/** Takes the chains' nodes down or brings them back. When they are back, payments made meanwhile are found. */
export function setNodes(deps: Deps, isAway: boolean, now: number): void {
  const { unseen = [], ...settings } = deps.ledger.settings()
  deps.ledger.commit(isAway ? { ...settings, unseen } : settings)
  if (!isAway) for (const payment of unseen) found(deps, payment, now)
}

/**
 * The server finds a transfer. It stores the time at which it found it, not that of the transaction. It identifies a
 * payment by its id and keeps only the first of two with the same id, which happens with plugins that name a payment
 * after its transaction.
 */
function found(deps: Deps, { transfer, confirm }: UnseenPayment, now: number): Invoice | undefined {
  const sent = deps.ledger.find('transaction', transfer)
  const payee = sent && payeeOf(deps, sent, now)
  if (!payee) return undefined
  const { coin, units } = sent
  const id = paymentId(sent, payee.index)
  if (isKnown(deps, coin, id)) return undefined
  const payment: Payment = {
    id,
    coin,
    transaction: hashOf(sent),
    units,
    receivedAt: now,
    status: 'Processing',
    ...(confirm ? { confirmAt: now + deps.settings.confirmMs } : {}),
  }
  const event = seen('InvoiceReceivedPayment', payee, promptFor(payee, coin), payment)
  const paid = { ...payee, payments: [...payee.payments, payment] }
  const kept = keep(deps, { invoice: paid, events: [event] }, now)
  scheduleConfirmations(deps, kept, now)
  return kept
}

/** The invoice for which a found transfer counts; undefined if its address is not watched. */
function payeeOf(deps: Deps, { coin, address, subject }: ChainTransaction, now: number) {
  if (coins[coin].isPooled) return waitingAt(deps, coin, address)
  const invoice = deps.ledger.find('invoice', subject)
  return invoice && invoice.monitoredUntil > now ? invoice : undefined
}

function isKnown({ ledger }: Deps, coin: Ticker, id: string): boolean {
  return ledger
    .all('invoice')
    .some(({ payments }) => payments.some((one) => one.coin === coin && one.id === id))
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
  invoice: Invoice,
  { coin, address }: Prompt,
  { id, units, now }: { readonly id: string; readonly units: bigint; readonly now: number },
): ChainTransaction {
  return {
    type: 'transaction',
    id,
    coin,
    direction: 'in',
    units: String(units),
    fee: '0',
    address,
    at: now,
    subject: invoice.id,
  }
}

/**
 * The id of a payment as in BTCPay and its plugins: the transaction and the output for coins like Bitcoin, with the
 * address for Monero, and the transaction and its place in the block for the USDt plugin.
 */
function paymentId(transfer: ChainTransaction, index: number): string {
  const hash = hashOf(transfer)
  switch (transfer.coin) {
    case 'XMR':
      return `${hash}#0#${index + 1}`
    case 'BTC':
    case 'LTC':
      return `${hash}-${placeOf(transfer)}`
    case 'USDT':
      return `${hash}-0`
    case 'ETH':
      return hash
    default:
      return transfer.coin satisfies never
  }
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

/** Confirms payments: those that are due, or all of them by hand. */
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
    // A plugin with a list of addresses counts confirmations only while the invoice waits.
    if (coins[payment.coin].isPooled && !isWaiting(invoice.status)) return payment
    const settled = { ...payment, status: 'Settled' } as const
    events.push(seen('InvoicePaymentSettled', invoice, promptFor(invoice, payment.coin), settled))
    return settled
  })
  return events.length === 0
    ? invoice
    : keep(deps, { invoice: { ...invoice, payments }, events }, now)
}

/** Sets a timer for each payment that waits for its confirmations. */
export function scheduleConfirmations(deps: Deps, invoice: Invoice, now: number): void {
  for (const { id, status, confirmAt } of invoice.payments) {
    if (status === 'Settled' || confirmAt === undefined) continue
    deps.timers.set(`payment ${id}`, confirmAt - now, () => {
      confirm(deps, invoice.id, Date.now(), (payment) => payment.id === id)
    })
  }
}

/**
 * Expires an invoice as if its time had ended a second ago: Greenfield counts whole seconds, and a payment that comes
 * now must not seem to be in time. An invoice that was paid or has ended stays unchanged.
 */
export function expire(deps: Deps, id: string, now: number): Invoice {
  const invoice = invoiceOf(deps, id)
  if (invoice.status !== 'New') return invoice
  // Earlier payments were in time, and a payment in the same second as this is not.
  const received = invoice.payments.map(({ receivedAt }) => receivedAt)
  const expiresAt = Math.max(now - 1_000, ...received)
  const monitoredUntil = expiresAt + invoice.monitoredUntil - invoice.expiresAt
  const over = { ...invoice, expiresAt, monitoredUntil }
  return keep(deps, { invoice: over, events: [] }, now)
}

/** As if the time during which payments are watched for had ended as well. */
export function forget(deps: Deps, id: string, now: number): Invoice {
  const invoice = expire(deps, id, now)
  return keep(deps, { invoice: { ...invoice, monitoredUntil: now }, events: [] }, now)
}
