import { randomBytes } from 'node:crypto'
import type {
  CheckoutIn,
  Invoice,
  InvoicedCheckout,
  InvoicePayment,
  Return,
} from '../../src/checkouts/checkout.ts'
import { priceIn, signedReturn, withReturn } from '../../src/checkouts/checkout.ts'
import type { In } from '../../src/orders/order.ts'
import type { Payout, PayoutState } from '../../src/orders/payout.ts'
import { payerOf, type SignedRefund } from '../../src/payments/payment.ts'
import { newCheckoutId, newOrderId } from '../doubles/ids.ts'
import { pending, wanted } from './sample-orders.ts'

const startedAt = new Date('2026-03-01T10:00:00.123Z')

export const refundTo = 'bc1qRefundTo7zq'

/** The price of every sample in the coin: 12.50 USDC are 12,500 satoshi. */
export const unitsOfPrice = 12_500n

function newTransaction(): string {
  return randomBytes(32).toString('hex')
}

/** A checkout that a person has just begun. */
export function opening(changes: Partial<CheckoutIn<'OPENING'>> = {}): CheckoutIn<'OPENING'> {
  return {
    state: 'OPENING',
    id: newCheckoutId(),
    orderId: newOrderId(),
    version: 1,
    ...wanted,
    formKeyHash: newTransaction(),
    coin: 'BTC',
    network: 'Bitcoin',
    refundTo,
    startedAt,
    changedAt: startedAt,
    ...changes,
  }
}

export function refused(checkout: CheckoutIn<'OPENING'>): CheckoutIn<'REFUSED'> {
  return {
    ...checkout,
    state: 'REFUSED',
    changedAt: later(1),
    code: 'no_rate',
    reason: 'No rate.',
  }
}

export function invoice(changes: Partial<Invoice> = {}): Invoice {
  const address = `bc1qPayHere${randomBytes(9).toString('hex')}`
  return {
    id: `inv-${randomBytes(9).toString('base64url')}`,
    status: 'NEW',
    address,
    paymentLink: `bitcoin:${address}?amount=0.000125`,
    rate: '100000.00',
    units: unitsOfPrice,
    expiresAt: later(900),
    watchedUntil: later(90_000),
    payments: [],
    ...changes,
  }
}

export function payment(units: bigint, changes: Partial<InvoicePayment> = {}): InvoicePayment {
  const transaction = newTransaction()
  return {
    id: `${transaction}-0`,
    transaction,
    units,
    status: 'SETTLED',
    receivedAt: later(30),
    ...changes,
  }
}

export function opened(
  checkout: CheckoutIn<'OPENING'>,
  changes: Partial<Invoice> = {},
): CheckoutIn<'OPEN'> {
  return {
    ...checkout,
    state: 'OPEN',
    changedAt: later(2),
    invoice: invoice(changes),
    returns: [],
  }
}

/** The checkout, paid by these payments; by default in full. */
export function ordered(
  checkout: CheckoutIn<'OPEN'>,
  payments: readonly InvoicePayment[] = [payment(unitsOfPrice)],
): CheckoutIn<'ORDERED'> {
  const paid: Invoice = { ...checkout.invoice, status: 'SETTLED', payments }
  const price = priceIn(paid)
  const changedAt = later(60)
  return { ...checkout, state: 'ORDERED', changedAt, invoice: paid, isPlaced: false, price }
}

export function ended(
  checkout: CheckoutIn<'OPEN'>,
  payments: readonly InvoicePayment[] = [],
): CheckoutIn<'ENDED'> {
  const over: Invoice = { ...checkout.invoice, status: 'EXPIRED', payments }
  return { ...checkout, state: 'ENDED', changedAt: later(900), invoice: over }
}

/** The checkout with a further return. */
export function returning<C extends InvoicedCheckout>(checkout: C, units: bigint): C {
  const seq = checkout.returns.length + 1
  const due: Return = { seq, units, why: 'surplus', payout: { state: 'DUE' } }
  return { ...checkout, returns: [...checkout.returns, due] }
}

/** The checkout with the payout of a return, by default the last one, in another state. */
export function stepping<C extends InvoicedCheckout>(
  checkout: C,
  state: PayoutState,
  seq = checkout.returns.length,
): C {
  const units = checkout.returns[seq - 1]?.units ?? 0n
  return withReturn(checkout, seq, payoutAt(state, signedReturn(checkout, { seq, units })))
}

export function closed<C extends InvoicedCheckout>(checkout: C): C {
  return { ...checkout, closedAt: later(90_001) }
}

/** The order that an ordered checkout opens. */
export function orderOf(checkout: CheckoutIn<'ORDERED'>): In<'PAYMENT_PENDING'> {
  const { orderId, item, amount, coin, network, price } = checkout
  return pending({
    id: orderId,
    item,
    amount,
    tender: {
      rail: 'btcpay',
      network,
      asset: coin,
      payTo: checkout.invoice.address,
      payer: payerOf(coin, checkout.refundTo),
      amount,
      nonce: checkout.id,
      invoice: checkout.invoice.id,
      units: price,
    },
  })
}

const sentTransaction = newTransaction()

function payoutAt(state: PayoutState, signed: SignedRefund): Payout {
  switch (state) {
    case 'DUE':
      return { state }
    case 'APPROVED':
      return { state, signed }
    case 'CONFIRMED':
      return { state, transaction: sentTransaction, confirmedAt: later(1_000) }
    case 'FAILED':
      return { state, code: 'operator_pays', reason: 'XMR is paid by hand.' }
  }
}

function later(seconds: number): Date {
  return new Date(startedAt.getTime() + seconds * 1_000)
}
