import {
  type Invoice,
  type InvoicePayment,
  isPaid,
  seenUnits,
  settledUnits,
} from '../../checkouts/checkout.ts'
import type { InvoiceRead } from '../../checkouts/ports.ts'
import { type Coin, parseUnits } from '../../payments/coins.ts'
import type { GreenfieldInvoice, GreenfieldMethod } from './schemas.ts'

const statuses = { Invalid: 'INVALID', Processing: 'PROCESSING', Settled: 'SETTLED' } as const

/** Combines what BTCPay says about an invoice and about its only payment method. */
export function invoiceOf(
  invoice: GreenfieldInvoice,
  methods: readonly GreenfieldMethod[],
  coin: Coin,
  now: Date,
): InvoiceRead {
  const [method, ...others] = methods.filter(({ paymentMethodId: id }) => isOf(coin, id))
  if (others.length > 0) return unknown(`BTCPay shows several ways to pay the invoice in ${coin}`)
  if (!method?.destination) return unknown(`BTCPay shows no address for ${coin} of the invoice`)
  const money = moneyOf(method, coin)
  if (money === undefined) return unknown(`BTCPay shows an amount that is none of ${coin}`)
  const expiresAt = dateOf(invoice.expirationTime)
  const status = statusOf(invoice, { ...money, expiresAt }, now)
  if (status === undefined) {
    const { status: one, additionalStatus: other } = invoice
    return unknown(`BTCPay calls the invoice ${one} and ${other}, which contradict each other`)
  }
  const read: Invoice = {
    id: invoice.id,
    status,
    address: method.destination,
    paymentLink: linkOf(method.paymentLink, method.destination),
    rate: method.rate,
    ...money,
    expiresAt,
    watchedUntil: dateOf(invoice.monitoringExpiration),
  }
  return { outcome: 'found', invoice: read }
}

/**
 * The link that a wallet opens, or the address, which wallets open too. Tron wallets read the amount in a
 * link as TRX, whichever token the invoice asks for, so for Tron it is always the address.
 */
function linkOf(link: string | null | undefined, address: string): string {
  return !link || /^tron:/i.test(link) ? address : link
}

function isOf(coin: Coin, method: string): boolean {
  return method.toUpperCase().startsWith(`${coin}-`)
}

/** The exact amounts; undefined if the price is 0 or an amount is not one of the coin. */
function moneyOf(
  method: GreenfieldMethod,
  coin: Coin,
): Pick<Invoice, 'units' | 'payments'> | undefined {
  try {
    const units = parseUnits(method.amount, coin)
    const payments = method.payments.map(
      ({ id, value, status, receivedDate }): InvoicePayment => ({
        id,
        transaction: transactionOf(id),
        units: parseUnits(value, coin),
        status: statuses[status],
        receivedAt: dateOf(receivedDate),
      }),
    )
    return units > 0n ? { units, payments: withOwnIds(payments) } : undefined
  } catch {
    return undefined
  }
}

/**
 * The transaction in BTCPay's id of a payment: "{transaction}-{output}" for coins of Bitcoin's kind,
 * "{transaction}#{account}#{address}" for Monero, the transaction alone for others.
 */
function transactionOf(id: string): string {
  const [, transaction = id] = /^((?:0x)?[0-9a-f]{64})(?:[-#].*)?$/i.exec(id) ?? []
  return transaction
}

/**
 * Numbers payments that share an id, because part of the money would be lost if they were merged. BTCPay
 * itself keeps one payment per id, so it drops the second of two transfers to which a plugin gives the same
 * id. This is for a release that lists both.
 */
function withOwnIds(payments: readonly InvoicePayment[]): readonly InvoicePayment[] {
  const seen = new Map<string, number>()
  return payments.map((payment) => {
    const count = (seen.get(payment.id) ?? 0) + 1
    seen.set(payment.id, count)
    return count === 1 ? payment : { ...payment, id: `${payment.id}~${count}` }
  })
}

function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000)
}

function unknown(reason: string): InvoiceRead {
  return { outcome: 'unknown', reason }
}

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
