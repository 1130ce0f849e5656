import { formatDecimal, roundTo, worthDecimals } from './amounts.ts'
import { type CoinFacts, coins, ethereumChainId } from './coins.ts'
import { markable, promptTotals, totalsOf } from './life.ts'
import type { Invoice, Payment, Payout, Prompt, PullPayment } from './models.ts'

export interface Place {
  readonly url: string
  readonly storeId: string
}

/** Greenfield counts whole seconds. */
function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}

/**
 * The link that a wallet opens to pay an amount to an address: BIP-21 for Bitcoin and Litecoin, EIP-681 for Ethereum,
 * Monero's own URI scheme, and that of the plugin for USDT. All except EIP-681 write the amount in coins.
 */
function paymentLink(coin: CoinFacts, address: string, units: bigint): string {
  const amount = formatDecimal(units, coin.decimals)
  return {
    BTC: `bitcoin:${address}?amount=${amount}`,
    LTC: `litecoin:${address}?amount=${amount}`,
    XMR: `monero:${address}?tx_amount=${amount}`,
    ETH: `ethereum:${address}@${ethereumChainId}?value=${units}`,
    USDT: `tron:${address}?amount=${amount}`,
  }[coin.symbol]
}

/** The address in the destination of a claim, which may be a payment link. */
export function addressIn(destination: string): string {
  const [, address = destination] =
    /^(?:bitcoin|litecoin|ethereum|tron):([^?@]+)/.exec(destination) ?? []
  return address
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
    },
    receipt: { enabled: null, showQR: null, showPayments: null },
  }
}

export interface MethodsAsked {
  /** As `hostAheadMinutes` of the settings. */
  readonly ahead: number
  /** Without payments that were replaced. */
  readonly onlyAccounted: boolean
}

export function methodsView(invoice: Invoice, asked: MethodsAsked) {
  return invoice.prompts.map((prompt) => promptView(invoice, prompt, asked))
}

function promptView(invoice: Invoice, prompt: Prompt, { ahead, onlyAccounted }: MethodsAsked) {
  const coin = coins[prompt.coin]
  const { amount, due, fee, paidHere, totalPaid } = promptTotals(invoice, prompt)
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
    paymentMethodFee: write(fee),
    activated: true,
    payments: invoice.payments
      .filter(
        ({ coin: one, status }) => one === prompt.coin && !(onlyAccounted && status === 'Invalid'),
      )
      .map((payment) => paymentView(payment, prompt.address, ahead)),
    additionalData: {},
  }
}

/** The server writes the time of a payment as one of its host, without a zone, and reads it as UTC. */
export function paymentView(payment: Payment, destination: string, ahead: number) {
  const { decimals } = coins[payment.coin]
  return {
    id: payment.id,
    receivedDate: seconds(payment.receivedAt) - ahead * 60,
    value: formatDecimal(BigInt(payment.units), decimals),
    fee: formatDecimal(BigInt(payment.fee ?? 0), decimals),
    status: payment.status,
    destination: payment.address ?? destination,
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
    revision: 0,
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
