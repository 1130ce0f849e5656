import type { Ticker } from './coins.ts'

/** Named as in Greenfield. Amounts are smallest units of a coin, in decimal. */
export interface Payment {
  readonly id: string
  readonly coin: Ticker
  readonly transaction: string
  readonly units: string
  /** The part that does not count towards the price, in smallest units. Absent: none. */
  readonly fee?: string
  /** The address that it paid. Absent: that of its prompt. */
  readonly address?: string
  /** Unix milliseconds, like every `…At` here. */
  readonly receivedAt: number
  /** When it is confirmed; absent while confirmations are held back by hand. */
  readonly confirmAt?: number
  /** `Invalid`: another transaction has replaced it. */
  readonly status: 'Processing' | 'Settled' | 'Invalid'
}

/** One payment method of an invoice. Its rate never changes. */
export interface Prompt {
  readonly coin: Ticker
  readonly address: string
  /** The addresses that it had before; Monero gets another one after each payment of a part. */
  readonly earlier?: readonly string[]
  readonly rate: string
  /** The network fee of the next payment, in smallest units. Absent: none. */
  readonly fee?: string
}

export interface Invoice {
  readonly type: 'invoice'
  readonly id: string
  /** The number of the invoice in this store; each has its own addresses. */
  readonly index: number
  /** US dollars, as a decimal. */
  readonly amount: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly checkout: Readonly<Record<string, unknown>>
  readonly createdAt: number
  readonly expiresAt: number
  readonly monitoredUntil: number
  readonly status: 'New' | 'Processing' | 'Expired' | 'Invalid' | 'Settled'
  readonly additionalStatus: 'None' | 'PaidLate' | 'PaidPartial' | 'Marked' | 'PaidOver'
  readonly archived: boolean
  readonly prompts: readonly Prompt[]
  readonly payments: readonly Payment[]
}

export interface PullPayment {
  readonly type: 'pull-payment'
  readonly id: string
  readonly name: string | null
  readonly description: string | null
  readonly currency: string
  /** Decimal, in `currency`. */
  readonly amount: string
  readonly autoApproveClaims: boolean
  readonly archived: boolean
  readonly methods: readonly string[]
}

export interface Payout {
  readonly type: 'payout'
  readonly id: string
  readonly pullPaymentId: string
  readonly createdAt: number
  readonly destination: string
  readonly coin: Ticker
  readonly originalCurrency: string
  readonly originalAmount: string
  /** In smallest units of the coin; null until the payout is approved. */
  readonly units: string | null
  readonly state: 'AwaitingApproval' | 'AwaitingPayment' | 'InProgress' | 'Completed' | 'Cancelled'
  readonly proof: Readonly<Record<string, unknown>> | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** When the processor sends it, or when its transaction is confirmed. */
  readonly nextAt?: number
  /** The number of failed attempts to send it; after ten the processor gives up for good. */
  readonly tries?: number
}

export interface ChainTransaction {
  readonly type: 'transaction'
  /** The hash, followed by the place of the transfer if it is not the first of its transaction. */
  readonly id: string
  readonly coin: Ticker
  readonly direction: 'in' | 'out'
  readonly units: string
  readonly fee: string
  readonly address: string
  readonly at: number
  /** The id of the invoice that it paid, or of the payout that it sent. */
  readonly subject: string
}

/** A transfer on the chain that the server has not found yet. */
export interface UnseenPayment {
  /** The id of its transaction in the ledger. */
  readonly transfer: string
  readonly confirm: boolean
}

/** Settings that can change at run time and survive a restart. */
export interface Settings {
  readonly type: 'settings'
  readonly id: 'settings'
  readonly processor: boolean
  /** Whether the nodes refuse the transactions of payouts: they are `InProgress` then, and stay so. */
  readonly refused?: boolean
  /** Wallets of which BTCPay has no keys; all others are hot. */
  readonly watchOnly?: readonly Ticker[]
  /** Present while the chains' nodes are down: the payments that nobody has seen. */
  readonly unseen?: readonly UnseenPayment[]
}

interface Removed {
  readonly type: 'removed'
  readonly id: string
  readonly of: Exclude<Stored['type'], 'removed' | 'transaction'>
}

export type Stored = Removed | Invoice | PullPayment | Payout | ChainTransaction | Settings
export type StoredOf<T extends Stored['type']> = Extract<Stored, { type: T }>
