import type { Checkout, CheckoutAccount } from '../checkouts/checkout.ts'
import type { Processor } from '../checkouts/ports.ts'
import type { CheckoutId, OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import type { Goodwill } from '../orders/goodwill.ts'
import type { Account, Order } from '../orders/order.ts'
import type { OrderStore } from '../orders/ports.ts'
import type { Coin } from '../payments/coins.ts'
import type { Payment } from '../payments/payment.ts'

/** One transfer of USDC, from the logs of the token. Addresses and hashes are in lower case. */
export interface ChainTransfer {
  readonly transaction: string
  readonly block: number
  /** Its place among all logs of its block. */
  readonly logIndex: number
  readonly from: string
  readonly to: string
  readonly amount: Usdc
  /** The nonce of the EIP-3009 authorization that made it; absent for a plain transfer. */
  readonly nonce?: string
}

/** `pay_to`: buyers pay to it. `refunds`: buyers are paid back from it. */
export type WalletRole = 'pay_to' | 'refunds'

/** A present or an earlier address of the store, in lower case. */
export interface StoreWallet {
  readonly role: WalletRole
  readonly address: string
  readonly isPresent: boolean
  /** When it became the store's; absent if that is not known. */
  readonly since?: Date
}

/** The chain's record of our wallets. Every method throws when the node does not answer. */
export interface ChainStatement {
  /** With its payer and nonce, these identify a payment. */
  readonly network: string
  readonly asset: string
  readonly wallets: readonly StoreWallet[]
  /** The newest block, and the newest that cannot be dropped any more. */
  heads(): Promise<{ readonly newest: number; readonly safe: number }>
  /** The first block that is less than this many seconds older than the newest one. */
  blockBefore(seconds: number): Promise<number>
  /** The first block at or after this time; the one after the newest if there is none yet. */
  blockAt(time: Date): Promise<number>
  /** Everything that was paid to us in these blocks, both ends included, in their order. */
  received(from: number, to: number): AsyncIterable<readonly ChainTransfer[]>
  paidBack(from: number, to: number): AsyncIterable<readonly ChainTransfer[]>
  minedAt(block: number): Promise<Date>
  /** The transfer that this authorization made in this transaction, whoever it paid. */
  transferIn(transaction: string, nonce: string): Promise<ChainTransfer | undefined>
  /** The transfers of this transaction that no authorization made. */
  plainTransfersIn(transaction: string): Promise<readonly ChainTransfer[]>
  /** What our wallets sent to this address in these blocks, without an authorization. */
  sentPlainly(to: string, from: number, until: number): AsyncIterable<readonly ChainTransfer[]>
  /** The one nonce that a payout with this reference can have. */
  refundNonceOf(reference: string): string
  /** What this address holds now. */
  holds(address: string): Promise<Usdc>
}

/** An order whose entries in the ledger contradict its state; atomic USDC. */
export interface Misbooked {
  readonly order: OrderId
  readonly account: Account
  readonly booked: bigint
  readonly due: bigint
}

/** A payout in a coin, as the payment processor has it. */
export interface ProcessorPayout {
  readonly reference: string
  /** The coin as the processor writes it, in capitals. */
  readonly coin: string
  readonly to: string
  /** In the smallest unit of the coin; undefined if it is not an amount of a coin that the store knows. */
  readonly units: bigint | undefined
  readonly isSent: boolean
  /** Undefined if the processor does not name it. */
  readonly transaction: string | undefined
}

export interface PaidInvoice {
  readonly id: string
  /** The checkout that it was made for, and the order that this was to become. */
  readonly checkout: string
  readonly order: string | undefined
  readonly madeAt: Date
}

type Answer<T> =
  | ({ readonly outcome: 'found' } & T)
  | { readonly outcome: 'unknown'; readonly reason: string }
export type PaidInvoices = Answer<{ readonly invoices: readonly PaidInvoice[] }>
export type ProcessorPayouts = Answer<{ readonly payouts: readonly ProcessorPayout[] }>

export interface ProcessorStatement extends Pick<Processor, 'read'> {
  /** All payouts under these names that were not cancelled, sent or not. */
  payouts(isNamed: (reference: string) => boolean): Promise<ProcessorPayouts>
  /** All paid invoices that were made for such checkouts. */
  paidInvoices(isNamed: (checkout: string) => boolean): Promise<PaidInvoices>
}

/** Why a transfer of our own wallets is right although no order explains it, and who says so. */
export interface Acknowledgement {
  readonly reason: string
  readonly by: string
}

export interface Movements {
  acknowledged(): Promise<
    readonly (Acknowledgement & Pick<ChainTransfer, 'transaction' | 'logIndex'>)[]
  >
  /** Stores the acknowledgement. A second one for the same transfer changes nothing. */
  acknowledge(movement: ChainTransfer, why: Acknowledgement): Promise<void>
}

export type OrderWriter = Pick<OrderStore, 'open' | 'move' | 'release'>

export interface StoreRecord {
  /** The oldest block that an order names; undefined when none does. */
  oldestBlock(): Promise<number | undefined>
  /** The newest block that a payment on record is in. Quick however many orders there are. */
  newestBlock(): Promise<number | undefined>
  /** @param keys see `paymentKeyOf` */
  byPayments(keys: readonly string[]): Promise<readonly Order[]>
  byIds(ids: readonly OrderId[]): Promise<readonly Order[]>
  /** The orders that these wallets (lower case) paid; `decided`: those that are delivered or never will be. */
  idsOf(payers: readonly string[], which: 'all' | 'decided'): Promise<readonly OrderId[]>
  /** All orders, page by page, each as it is when its page is read. */
  orders(): AsyncIterable<readonly Order[]>
  /** The sum of each account over all orders of this method. */
  ledger(method: Payment['method']): Promise<Readonly<Record<Account, bigint>>>
  misbooked(): Promise<readonly Misbooked[]>
  /** All goodwill, the oldest first. */
  goodwill(): Promise<readonly Goodwill[]>
  /** Runs these writes in one transaction: all of them count, or none does. */
  atOnce<T>(work: (orders: OrderWriter) => Promise<T>): Promise<T>
}

/** A checkout whose entries in the ledger contradict its state; units of its coin. */
export interface MisbookedCheckout {
  readonly checkout: CheckoutId
  readonly coin: Coin
  readonly account: CheckoutAccount
  readonly booked: bigint
  readonly due: bigint
}

/** Units of one coin over all checkouts in it, in each account. */
export type CoinSums = Readonly<Record<CheckoutAccount, bigint>>

export interface CheckoutRecord {
  all(): AsyncIterable<readonly Checkout[]>
  /** Orders paid through an invoice that no checkout has allocated to them. */
  strayOrders(): Promise<readonly OrderId[]>
  ledger(): Promise<ReadonlyMap<Coin, CoinSums>>
  misbooked(): Promise<readonly MisbookedCheckout[]>
}
