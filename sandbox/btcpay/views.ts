import { promptTotals, totalsOf } from './accounting.ts'
import { formatDecimal, roundTo, worthDecimals } from './amounts.ts'
import { coins } from './coins.ts'
import { markable } from './life.ts'
import { paymentLink } from './links.ts'
import type { Invoice, Payment, Payout, Prompt, PullPayment } from './models.ts'

/** The address of the server, and the id of its store. */
export interface Place {
  readonly url: string
  readonly storeId: string
}

export type PaymentView = ReturnType<typeof paymentView>

/** Greenfield counts whole seconds. */
function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}

export function invoiceView(place: Place, invoice: Invoice) {
  const paid = roundTo(totalsOf(invoice).paid, 2)
  return {
    id: invoice.id,
    storeId: place.storeId,
    amount: invoice.amount,
    paidAmount: formatDecimal(paid, worthDecimals),
    currency: 'USD',
    type: 'Standard',
    checkoutLink: `${place.url}/i/${invoice.id}`,
    createdTime: seconds(invoice.createdAt),
    expirationTime: seconds(invoice.expiresAt),
    monitoringExpiration: seconds(invoice.monitoredUntil),
    status: invoice.status,
    additionalStatus: invoice.additionalStatus,
    availableStatusesForManualMarking: markable(invoice),
    archived: invoice.archived,
    metadata: invoice.metadata,
    checkout: {
      ...invoice.checkout,
      paymentMethods: invoice.prompts.map(({ coin }) => coins[coin].methodId),
      expirationMinutes: (invoice.expiresAt - invoice.createdAt) / 60_000,
      monitoringMinutes: (invoice.monitoredUntil - invoice.expiresAt) / 60_000,
      paymentTolerance: invoice.tolerance,
    },
    receipt: { enabled: null, showQR: null, showPayments: null },
  }
}

export function promptView(invoice: Invoice, prompt: Prompt) {
  const coin = coins[prompt.coin]
  const { amount, due, paidHere, totalPaid } = promptTotals(invoice, prompt)
  const write = (units: bigint) => formatDecimal(units, coin.decimals)
  return {
    paymentMethodId: coin.methodId,
    currency: coin.symbol,
    destination: prompt.address,
    paymentLink: paymentLink(coin, prompt.address, due > 0n ? due : amount),
    rate: prompt.rate,
    paymentMethodPaid: write(paidHere),
    totalPaid: write(totalPaid),
    due: write(due),
    amount: write(amount),
    paymentMethodFee: '0',
    activated: true,
    payments: invoice.payments
      .filter((payment) => payment.coin === prompt.coin)
      .map((payment) => paymentView(payment, prompt.address)),
    additionalData: {},
  }
}

export function paymentView(payment: Payment, destination: string) {
  return {
    id: payment.id,
    receivedDate: seconds(payment.receivedAt),
    value: formatDecimal(BigInt(payment.units), coins[payment.coin].decimals),
    fee: '0',
    status: payment.status,
    destination,
  }
}

export function pullPaymentView(place: Place, pull: PullPayment) {
  return {
    id: pull.id,
    name: pull.name ?? '',
    description: pull.description ?? '',
    currency: pull.currency,
    amount: pull.amount,
    BOLT11Expiration: '30',
    autoApproveClaims: pull.autoApproveClaims,
    archived: pull.archived,
    viewLink: `${place.url}/pull-payments/${pull.id}`,
  }
}

export function payoutView(payout: Payout) {
  const { decimals, methodId } = coins[payout.coin]
  return {
    id: payout.id,
    revision: payout.revision,
    pullPaymentId: payout.pullPaymentId,
    date: String(seconds(payout.createdAt)),
    destination: payout.destination,
    originalCurrency: payout.originalCurrency,
    originalAmount: payout.originalAmount,
    payoutCurrency: payout.coin,
    payoutAmount: payout.units === null ? null : formatDecimal(BigInt(payout.units), decimals),
    payoutMethodId: methodId,
    state: payout.state,
    ...(payout.proof === null ? {} : { paymentProof: payout.proof }),
    metadata: payout.metadata,
  }
}
