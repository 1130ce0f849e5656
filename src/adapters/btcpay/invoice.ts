import type { Invoice, InvoicePayment } from '../../checkouts/checkout.ts'
import type { InvoiceRead } from '../../checkouts/ports.ts'
import { type Coin, parseUnits } from '../../payments/coins.ts'
import { statusOf } from './invoice-status.ts'
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
