import { type Usdc, usdcDecimals } from '../lib/money.ts'
import { type Coin, coinDecimals } from './coins.ts'

/** What a buyer hands over to pay. Each payment method has a case here and an entry in `PaymentMethods`. */
export type Payment = X402Payment | PaidInvoice

/** A signed EIP-3009 authorization: it moves this amount once, to this address, before its end. */
export interface X402Payment {
  readonly method: 'x402'
  /** CAIP-2: "eip155:8453". */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly payer: string
  readonly amount: Usdc
  readonly nonce: string
  /** Chain time, in seconds. */
  readonly validAfter: number
  readonly validBefore: number
  readonly signature: string
  /** The first block in which it can have landed. */
  readonly sinceBlock: number
}

/** An invoice of the payment processor that was paid in full and in time (docs/contributors/decisions/015). */
export interface PaidInvoice {
  readonly method: 'btcpay'
  /** The chain as the operator named it: "Bitcoin". */
  readonly network: string
  readonly asset: Coin
  readonly payTo: string
  /** Where the money goes back to: the coin, a colon and the address that the buyer gave. */
  readonly payer: string
  /** The price in USDC, for which the coin was paid. */
  readonly amount: Usdc
  /** The id of the checkout: each pays once. */
  readonly nonce: string
  readonly invoice: string
  /** What was paid for the price, in the coin's smallest unit; it is what a refund gives back. */
  readonly units: bigint
}

/** Money that has arrived, proven. */
export type Receipt = X402Receipt | InvoiceReceipt

export interface X402Receipt {
  readonly method: 'x402'
  /** Where anyone can check it: the transaction hash. */
  readonly transaction: string
  readonly block: number
}

export interface InvoiceReceipt {
  readonly method: 'btcpay'
  /** The transaction that paid, on the coin's chain; the last one where there were several. */
  readonly transaction: string
}

export function blockOf(receipt: Receipt): number | undefined {
  return receipt.method === 'x402' ? receipt.block : undefined
}

export function payerOf(coin: Coin, address: string): string {
  return `${coin}:${address}`
}

/** A wallet is public on the chain. A return address is not, and its last four characters are enough for its owner. */
export function publicPayerOf(payment: Payment): string {
  if (payment.method === 'x402') return payment.payer
  const { coin, address } = partsOf(payment.payer)
  return payerOf(coin, `…${address.slice(-4)}`)
}

export function partsOf(payer: string): { readonly coin: Coin; readonly address: string } {
  const colon = payer.indexOf(':')
  return { coin: payer.slice(0, colon) as Coin, address: payer.slice(colon + 1) }
}

export function addressOf({ method, payer }: Pick<Payment, 'method' | 'payer'>): string {
  return method === 'x402' ? payer : partsOf(payer).address
}

export function paidIn(payment: Payment): { readonly decimals: number; readonly units: bigint } {
  return payment.method === 'x402'
    ? { decimals: usdcDecimals, units: payment.amount }
    : { decimals: coinDecimals[payment.asset], units: payment.units }
}

/** The permanent, unique key of a payment: USDC accepts a payer's nonce only once (EIP-3009). */
export function paymentKeyOf(payment: Pick<Payment, 'network' | 'asset' | 'payer' | 'nonce'>) {
  return [payment.network, payment.asset, payment.payer, payment.nonce].join(':').toLowerCase()
}

export function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** A payout whose parts are all fixed and recorded, so that sending it twice pays once. */
export type SignedRefund = X402Refund | InvoiceRefund

/** A payout in a coin by the payment processor, which recognises a repeat by its reference. */
export interface InvoiceRefund {
  readonly method: 'btcpay'
  readonly invoice: string
  /** As in `PaidInvoice.network`. */
  readonly network: string
  /** As in `PaidInvoice.payer`. */
  readonly to: string
  readonly amount: Usdc
  readonly reference: string
  readonly units: bigint
}

export interface X402Refund {
  readonly method: 'x402'
  /** CAIP-2. */
  readonly network: string
  readonly from: string
  readonly to: string
  readonly amount: Usdc
  readonly nonce: string
  /** Chain time, in seconds. */
  readonly validBefore: number
  readonly signature: string
  readonly sinceBlock: number
}

/** One log of the token contract, in the order in which the transaction wrote it. */
export type TokenLog =
  | {
      readonly event: 'AuthorizationUsed' | 'AuthorizationCanceled'
      readonly authorizer: string
      readonly nonce: string
      readonly index: number
    }
  | {
      readonly event: 'Transfer'
      readonly from: string
      readonly to: string
      readonly value: bigint
      readonly index: number
    }

export interface Expected {
  readonly from: string
  readonly to: string
  readonly value: Usdc
  readonly nonce: string
}

/**
 * The token writes `AuthorizationUsed` and directly after it the `Transfer`. Both anywhere in the same transaction is
 * not enough: one multicall can burn this nonce on a transfer to somebody else beside one that pays another order.
 */
export function provesTransfer(logs: readonly TokenLog[], expected: Expected): boolean {
  const used = logs.find((log) => log.event === 'AuthorizationUsed' && isOf(log, expected))
  if (!used) return false
  const next = logs.find((log) => log.index === used.index + 1)
  return (
    next?.event === 'Transfer' &&
    same(next.from, expected.from) &&
    same(next.to, expected.to) &&
    next.value === expected.value
  )
}

function isOf(log: { authorizer: string; nonce: string }, expected: Expected): boolean {
  return same(log.authorizer, expected.from) && same(log.nonce, expected.nonce)
}
