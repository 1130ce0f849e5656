import type { Checkout, CheckoutAccount } from '../checkouts/checkout.ts'
import type { Processor } from '../checkouts/ports.ts'
import type { CheckoutId, OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import type { Account, Order } from '../orders/order.ts'
import type { Goodwill, OrderStore } from '../orders/ports.ts'
import type { Coin } from '../payments/coins.ts'
import type { Payment } from '../payments/payment.ts'

/** From the logs of the token. Addresses and hashes are in lower case. */
export interface ChainTransfer {
  readonly transaction: string
  readonly block: number
  /** Among all logs of its block. */
  readonly logIndex: number
  readonly from: string
  readonly to: string
  readonly amount: Usdc
  /** Of its EIP-3009 authorization; absent for a plain transfer. */
  readonly nonce?: string
}

/** `pay_to`: buyers pay to it. `refunds`: buyers are paid back from it. */
export type WalletRole = 'pay_to' | 'refunds'

/** In lower case. */
export interface StoreWallet {
  readonly role: WalletRole
  readonly address: string
  readonly isPresent: boolean
  readonly since?: Date
  /** When another took its place, or an operator named it as an earlier one. Absent if it is present, or unknown. */
  readonly until?: Date
}

/** Every method throws when the node does not answer. */
export interface ChainStatement {
  readonly network: string
  readonly asset: string
  readonly wallets: readonly StoreWallet[]
  heads(): Promise<{ readonly newest: number; readonly safe: number }>
  /** The first block that is less than this many seconds older than the newest one. */
  blockBefore(seconds: number): Promise<number>
  /** The one after the newest if there is none yet. */
  blockAt(time: Date): Promise<number>
  /** In these blocks, both ends included, in their order. */
  received(from: number, to: number): AsyncIterable<readonly ChainTransfer[]>
  paidBack(from: number, to: number): AsyncIterable<readonly ChainTransfer[]>
  minedAt(block: number): Promise<Date>
  /** The transfer that this authorization made in this transaction, whoever it paid. */
  transferIn(transaction: string, nonce: string): Promise<ChainTransfer | undefined>
  plainTransfersIn(transaction: string): Promise<readonly ChainTransfer[]>
  sentPlainly(to: string, from: number, until: number): AsyncIterable<readonly ChainTransfer[]>
  refundNonceOf(reference: string): string
  holds(address: string): Promise<Usdc>
}

/** Atomic USDC. */
export interface Misbooked {
  readonly order: OrderId
  readonly account: Account
  readonly booked: bigint
  readonly due: bigint
}

export interface ProcessorPayout {
  readonly reference: string
  readonly coin: string
  readonly to: string
  /** Undefined if it is not an amount of a coin that the store knows. */
  readonly units: bigint | undefined
  readonly isSent: boolean
  readonly transaction: string | undefined
}

export interface PaidInvoice {
  readonly id: string
  readonly checkout: string
  readonly order: string | undefined
  readonly madeAt: Date
}

type Answer<T> =
  | ({ readonly outcome: 'found' } & T)
  | { readonly outcome: 'unknown'; readonly reason: string }
export type PaidInvoices = Answer<{ readonly invoices: readonly PaidInvoice[] }>
export type ProcessorPayouts = Answer<{
  readonly payouts: readonly ProcessorPayout[]
  /** References of which the processor does not show what was paid. */
  readonly hidden: readonly string[]
}>

export interface ProcessorStatement extends Pick<Processor, 'read'> {
  /** Those that were not cancelled, sent or not. */
  payouts(isNamed: (reference: string) => boolean): Promise<ProcessorPayouts>
  paidInvoices(isNamed: (checkout: string) => boolean): Promise<PaidInvoices>
}

export interface Acknowledgement {
  readonly reason: string
  readonly by: string
}

export interface Movements {
  acknowledged(): Promise<
    readonly (Acknowledgement & Pick<ChainTransfer, 'transaction' | 'logIndex'>)[]
  >
  /** A second one for the same transfer changes nothing. */
  acknowledge(movement: ChainTransfer, why: Acknowledgement): Promise<void>
}

export type OrderWriter = Pick<OrderStore, 'open' | 'move' | 'release'>

export interface StoreRecord {
  oldestBlock(): Promise<number | undefined>
  /** Quick however many orders there are. */
  newestBlock(): Promise<number | undefined>
  byPayments(keys: readonly string[]): Promise<readonly Order[]>
  byIds(ids: readonly OrderId[]): Promise<readonly Order[]>
  /** Wallets are in lower case; `decided`: those that are delivered or never will be. */
  idsOf(payers: readonly string[], which: 'all' | 'decided'): Promise<readonly OrderId[]>
  /** Page by page, each as it is when its page is read. */
  orders(): AsyncIterable<readonly Order[]>
  ledger(method: Payment['method']): Promise<Readonly<Record<Account, bigint>>>
  misbooked(): Promise<readonly Misbooked[]>
  goodwill(): Promise<readonly Goodwill[]>
  atOnce<T>(work: (orders: OrderWriter) => Promise<T>): Promise<T>
}

/** In units of its coin. */
export interface MisbookedCheckout {
  readonly checkout: CheckoutId
  readonly coin: Coin
  readonly account: CheckoutAccount
  readonly booked: bigint
  readonly due: bigint
}

export type CoinSums = Readonly<Record<CheckoutAccount, bigint>>

export interface CheckoutRecord {
  all(): AsyncIterable<readonly Checkout[]>
  strayOrders(): Promise<readonly OrderId[]>
  ledger(): Promise<ReadonlyMap<Coin, CoinSums>>
  misbooked(): Promise<readonly MisbookedCheckout[]>
}
