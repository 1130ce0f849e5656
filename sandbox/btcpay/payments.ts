import { formatDecimal, parseDecimal } from './amounts.ts'
import { coins, type Ticker } from './coins.ts'
import type { Deps } from './deps.ts'
import { invalid } from './errors.ts'
import { invoiceOf, isWaiting, keep, promptAfter, waitingAt } from './invoices.ts'
import { hashOf, nextTransaction } from './ledger.ts'
import { promptTotals } from './life.ts'
import type { ChainTransaction, Invoice, Payment, Prompt, UnseenPayment } from './models.ts'
import { paymentView } from './views.ts'
import type { StoreEvent } from './webhooks.ts'

/** One transfer of a transaction, which has several when an exchange makes it. */
export interface Transfer {
  readonly invoice: string
  /** Absent: the first coin of the invoice. */
  readonly coin?: Ticker | undefined
  /** In smallest units. Absent: what is due, or the whole price if nothing is due. */
  readonly units?: bigint | undefined
  /** One that the invoice had before. Absent: its present one. */
  readonly address?: string | undefined
  /** Lets the invoice expire first. */
  readonly late?: boolean | undefined
  /** False holds the confirmations back until they are requested. */
  readonly confirm?: boolean | undefined
}

/** Reads "0.001" as smallest units of the coin. @throws ApiError 422 if it is not such an amount */
export function unitsOf(amount: string, coin: Ticker): bigint {
  const { decimals } = coins[coin]
  const units = parseDecimal(amount, decimals)
  if (units !== undefined && units > 0n) return units
  const least = formatDecimal(1n, decimals)
  throw invalid('amount', `"${amount}" is no amount of ${coin}; the least is "${least}".`)
}

/**
 * Sends coins in one transaction to the addresses of several invoices, or several times to one.
 *
 * @returns for each transfer, whether it was seen; it is not if nobody watches the invoice's address
 */
export function payTogether(deps: Deps, transfers: readonly Transfer[], now: number) {
  const sent = transfers.map(({ invoice: id, confirm: confirms, ...payer }) => {
    const invoice = payer.late ? expire(deps, id, now) : invoiceOf(deps, id)
    const prompt = promptFor(invoice, payer.coin)
    const { amount, due } = promptTotals(invoice, prompt)
    const units = payer.units ?? (due > 0n ? due : amount)
    return { id, prompt, confirms, units, address: payer.address ?? prompt.address }
  })
  const coin = sent[0]?.prompt.coin
  if (coin === undefined || sent.some(({ prompt }) => prompt.coin !== coin)) {
    throw invalid('transfers', 'A transaction has transfers of one coin.')
  }
  const transaction = nextTransaction(deps.ledger, deps.settings.seed, coin)
  const seen = sent.map(({ id: subject, address, confirms, units }, place) => {
    const transfer: ChainTransaction = {
      type: 'transaction',
      id: place === 0 ? transaction : `${transaction}/${place}`,
      ...{ coin, direction: 'in', units: String(units), fee: '0', address, at: now, subject },
    }
    deps.ledger.commit(transfer)
    return lookFor(deps, { transfer: transfer.id, confirm: confirms !== false }, now)
  })
  return { transaction, seen }
}

/** Looks for a transfer; while the chains' nodes are down, notes it as unseen. */
function lookFor(deps: Deps, payment: UnseenPayment, now: number): boolean {
  const settings = deps.ledger.settings()
  if (settings.unseen === undefined) return find(deps, payment, now)
  deps.ledger.commit({ ...settings, unseen: [...settings.unseen, payment] })
  return false
}

/** Takes the chains' nodes down or brings them back. When they are back, payments made meanwhile are found. */
export function setNodes(deps: Deps, isAway: boolean, now: number): void {
  const { unseen = [], ...settings } = deps.ledger.settings()
  deps.ledger.commit(isAway ? { ...settings, unseen } : settings)
  if (!isAway) for (const payment of unseen) find(deps, payment, now)
}

/**
 * The server finds a transfer. It stores the time at which it found it, not that of the transaction. It identifies a
 * payment by its id and keeps only the first of two with the same id, which happens with plugins that name a payment
 * after its transaction.
 */
function find(deps: Deps, { transfer, confirm: confirms }: UnseenPayment, now: number): boolean {
  const sent = deps.ledger.find('transaction', transfer)
  const payee = sent && payeeOf(deps, sent, now)
  if (!payee) return false
  const { coin, units, address } = sent
  const prompt = promptFor(payee, coin)
  const id = paymentId(sent, payee, prompt)
  const isKnown = deps.ledger
    .all('invoice')
    .some(({ payments }) => payments.some((one) => one.coin === coin && one.id === id))
  if (isKnown) return false
  const payment: Payment = {
    ...{ id, coin, transaction: hashOf(sent)[0], units, address },
    ...{ fee: prompt.fee ?? '0', receivedAt: now, status: 'Processing' },
    ...(confirms ? { confirmAt: now + deps.settings.confirmMs } : {}),
  }
  const event = seen(deps, 'InvoiceReceivedPayment', payee, payment)
  const counted = { ...payee, payments: [...payee.payments, payment] }
  const next = promptAfter(deps, prompt, counted, address)
  const prompts = payee.prompts.map((one) => (one === prompt ? next : one))
  const paid = { ...counted, prompts }
  scheduleConfirmations(deps, keep(deps, { invoice: paid, events: [event] }, now), now)
  return true
}

/** The invoice for which a found transfer counts; undefined if its address is not watched. */
function payeeOf(deps: Deps, { coin, address, subject }: ChainTransaction, now: number) {
  if (coins[coin].isPooled) return waitingAt(deps, coin, address)
  const invoice = deps.ledger.find('invoice', subject)
  return invoice && invoice.monitoredUntil > now ? invoice : undefined
}

function promptFor(invoice: Invoice, coin: Ticker | undefined): Prompt {
  const prompt = invoice.prompts.find((one) => coin === undefined || one.coin === coin)
  if (!prompt) throw invalid('coin', `The invoice cannot be paid in ${coin}.`)
  return prompt
}

/**
 * The id of a payment as in BTCPay and its plugins: the transaction and the output for coins like Bitcoin, with the
 * address for Monero, and the transaction and its place in the block for the USDt plugin.
 */
function paymentId(
  transfer: ChainTransaction,
  { index }: Invoice,
  { address, earlier = [] }: Prompt,
): string {
  const [hash, place] = hashOf(transfer)
  const subaddress = index * 1_000 + [...earlier, address].indexOf(transfer.address) + 1
  const output = `${hash}-${place}`
  const ids = {
    BTC: output,
    LTC: output,
    XMR: `${hash}#0#${subaddress}`,
    ETH: hash,
    USDT: `${hash}-${Number.parseInt(hash.slice(0, 2), 16)}`,
  }
  return ids[transfer.coin]
}

function seen(
  { settings: { hostAheadMinutes: ahead } }: Deps,
  type: 'InvoiceReceivedPayment' | 'InvoicePaymentSettled',
  invoice: Invoice,
  payment: Payment,
): StoreEvent {
  const { coin, address } = promptFor(invoice, payment.coin)
  return {
    type,
    afterExpiration: invoice.status === 'Expired' || invoice.status === 'Invalid',
    paymentMethodId: coins[coin].methodId,
    payment: paymentView(payment, address, ahead),
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
  const events: StoreEvent[] = []
  const payments = invoice.payments.map((payment) => {
    if (payment.status !== 'Processing' || !isDue(payment)) return payment
    // A plugin with a list of addresses counts confirmations only while the invoice waits.
    if (coins[payment.coin].isPooled && !isWaiting(invoice.status)) return payment
    const settled = { ...payment, status: 'Settled' } as const
    events.push(seen(deps, 'InvoicePaymentSettled', invoice, settled))
    return settled
  })
  if (events.length === 0) return invoice
  return keep(deps, { invoice: { ...invoice, payments }, events }, now)
}

/** Other transactions replace the payments that are not confirmed. The server tells no webhook of it. */
export function replace(deps: Deps, id: string, now: number): Invoice {
  const invoice = invoiceOf(deps, id)
  const payments = invoice.payments.map((payment) =>
    payment.status === 'Processing' ? ({ ...payment, status: 'Invalid' } as const) : payment,
  )
  return keep(deps, { invoice: { ...invoice, payments }, events: [] }, now)
}

/** Sets a timer for each payment that waits for its confirmations. */
export function scheduleConfirmations(deps: Deps, invoice: Invoice, now: number): void {
  for (const { id, status, confirmAt } of invoice.payments) {
    if (status !== 'Processing' || confirmAt === undefined) continue
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
  return keep(deps, { invoice: { ...invoice, expiresAt, monitoredUntil }, events: [] }, now)
}
