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
  readonly gas?: GasPaid
}

/** What the store paid the network for a transaction; absent from one that another account submitted. */
export interface GasPaid {
  readonly wei: bigint
  /** US dollars for one ETH at the time, where the network has a feed. */
  readonly ethUsd?: number
}

interface InvoiceReceipt {
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
  const nextLog = logs.find((log) => log.index === used.index + 1)
  return (
    nextLog?.event === 'Transfer' &&
    same(nextLog.from, expected.from) &&
    same(nextLog.to, expected.to) &&
    nextLog.value === expected.value
  )
}

function isOf(log: { authorizer: string; nonce: string }, expected: Expected): boolean {
  return same(log.authorizer, expected.from) && same(log.nonce, expected.nonce)
}

export type Checked<T = X402Payment> =
  /** `payment` is the one that was asked about, completed with what the method needs to find it. */
  | {
      readonly outcome: 'good'
      readonly payment: T
      /** It has paid already: its money is here, whether or not its order is opened. */
      readonly hasLanded?: true
    }
  /** It has not paid, and will not as it is. */
  | { readonly outcome: 'bad'; readonly code: string; readonly reason: string }
  | {
      readonly outcome: 'unknown'
      readonly reason: string
      /** `no` only if nobody outside has seen the payment, and it cannot have been used before. */
      readonly charged: 'no' | 'unknown'
      /** The network fee is higher than the store pays; otherwise a part did not answer. */
      readonly isTooCostly?: boolean
    }

/** `failed` is proven: the money did not move and never will. Anything less is `unknown`. */
export type Collected<R = Receipt> =
  | { readonly outcome: 'settled'; readonly receipt: R }
  | ({ readonly outcome: 'failed'; readonly code: string; readonly reason: string } & Costs)
  | ({ readonly outcome: 'unknown'; readonly reason: string } & Costs)

interface Costs {
  /** How many transactions this call sent at the store's expense that moved no money. */
  readonly wasted?: number
}

export interface Collecting {
  readonly listing?: Listing | undefined
  /** Sends nothing, and only checks whether the money has arrived. */
  readonly onlyLooks?: boolean
}

/** Whether money that arrived can still vanish: a chain may drop its newest blocks. */
export type Confirmation = 'final' | 'not_yet' | 'gone' | 'unknown'

export interface PaidOut {
  readonly transaction: string
  readonly gas?: GasPaid
}

export type PaidBack =
  | ({ readonly outcome: 'paid' } & PaidOut)
  | { readonly outcome: 'pending'; readonly reason: string }
  /** The signature ran out unused; the same refund has to be signed again, with the same nonce. */
  | { readonly outcome: 'lapsed' }
  | {
      readonly outcome: 'blocked'
      readonly code: string
      readonly reason: string
      /** Once the obstacle is gone, anybody who has the signature can have it paid. */
      readonly mayStillPay?: true
    }

export interface RefundDue<T = Payment, R = Receipt> {
  readonly reference: string
  /** The payment that goes back, to its payer and never to an address from a request. */
  readonly payment: T
  /** The receipt of the payment: the refund cannot be earlier. */
  readonly since: R
}

/** What a facilitator is told about a sale for its index of paid resources, in the terms of x402. */
export interface Listing {
  readonly resource: { readonly url: string; readonly description?: string }
  readonly extensions: Readonly<Record<string, unknown>>
}

interface PaymentMethod<T, R, S> {
  /** Moves the buyer's money to us, or sees that it came. Safe to repeat: a payment moves money once. */
  collect(payment: T, how?: Collecting): Promise<Collected<R>>
  confirmationOf(payment: T, receipt: R): Promise<Confirmation>
  /** Decides the one payout of this name, in all its parts. Sends nothing. */
  signRefund(due: RefundDue<T, R>): Promise<S>
  /** Pays a signed refund. Safe to repeat, by any node, after any crash. */
  payBack(refund: S): Promise<PaidBack>
}

/** Authorizations of USDC, on the chain. */
export interface X402Method extends PaymentMethod<X402Payment, X402Receipt, X402Refund> {
  check(payment: X402Payment): Promise<Checked>
  /** Computed without asking anybody; the signature of a contract wallet gives false. */
  isSignedByPayer(payment: X402Payment): Promise<boolean>
  /** Whether the authorization has not been used, by one call to the chain; false if it does not answer. */
  isUnused(payment: X402Payment): Promise<boolean>
}
/** Invoices in other coins, at the payment processor. */
export type InvoiceMethod = PaymentMethod<PaidInvoice, InvoiceReceipt, InvoiceRefund>

export interface PaymentMethods {
  readonly x402: X402Method
  readonly btcpay: InvoiceMethod
}

/** The method of a payment, receipt or refund. Each names its own, so the types on both sides match. */
export function methodOf(
  methods: PaymentMethods,
  { method }: Pick<Payment, 'method'>,
): PaymentMethod<Payment, Receipt, SignedRefund> {
  return methods[method] as PaymentMethod<never, never, never> as PaymentMethod<
    Payment,
    Receipt,
    SignedRefund
  >
}

export interface ChainFacts {
  readonly headAt: Date
  /** The time of the newest block that can no longer be dropped. */
  readonly safeHeadAt: Date
  readonly refundFloat: Usdc
  readonly gasWei: bigint
}

/** Why a method cannot pay a refund until an operator does something (docs/operators/treasury.md). */
export type PayBackFault =
  | 'no_float'
  | 'no_gas'
  | 'token_paused'
  | 'payer_blacklisted'
  | 'wallet_blacklisted'
  | 'refund_nonce_spent'
  | 'operator_pays'
  | 'note_transaction'
  | 'payout_cancelled'
  | 'payout_mismatch'
  | 'payout_archived'
  | 'payout_gone'
  | 'payout_refused'
  | 'processor_key'
  | 'payment_not_shown'

/** A payout waits for an operator because the processor sends none of the coin. */
export const operatorPays: PayBackFault = 'operator_pays'

/** The nonce of the refund is used, so the token accepts no refund of this order; an operator pays it. */
export const nonceSpent: PayBackFault = 'refund_nonce_spent'

/** The processor reports a payout as sent without naming its transaction; an operator records it. */
export const noteTransaction: PayBackFault = 'note_transaction'

/** The processor shows less confirmed money for an invoice than before: it may never have arrived. */
export const paymentNotShown: PayBackFault = 'payment_not_shown'

/** The payment is gone, and nothing was paid back for it, so nothing is owed. */
export const paymentVanished = 'payment_vanished'

/** After these an operator may pay by hand: the store asks the processor for these no more once that is recorded. */
export const payableByHand: ReadonlySet<string | null> = new Set<PayBackFault>([
  operatorPays,
  noteTransaction,
  'payout_cancelled',
  'payout_mismatch',
  'payout_archived',
  'payout_gone',
  'payout_refused',
  paymentNotShown,
])
