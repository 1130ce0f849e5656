import type { Ticker } from './coins.ts'

/** The words are Greenfield's own. Amounts are smallest units of a coin, written in full. */
type InvoiceStatus = 'New' | 'Processing' | 'Expired' | 'Invalid' | 'Settled'
type AdditionalStatus = 'None' | 'PaidLate' | 'PaidPartial' | 'Marked' | 'Invalid' | 'PaidOver'
type PayoutState = 'AwaitingApproval' | 'AwaitingPayment' | 'InProgress' | 'Completed' | 'Cancelled'

export interface Payment {
  readonly id: string
  readonly coin: Ticker
  readonly transaction: string
  readonly units: string
  /** Unix milliseconds, as every `At` here. */
  readonly receivedAt: number
  /** When its confirmations are there; none while somebody holds them back by hand. */
  readonly confirmAt?: number
  readonly status: 'Processing' | 'Settled'
}

/** One way of paying an invoice. The rate is fixed for the invoice's life. */
export interface Prompt {
  readonly coin: Ticker
  readonly address: string
  readonly rate: string
}

export interface Invoice {
  readonly type: 'invoice'
  readonly id: string
  /** Counts the invoices of this store; each has addresses of its own. */
  readonly index: number
  /** US dollars, as a decimal. */
  readonly amount: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly checkout: Readonly<Record<string, unknown>>
  readonly tolerance: number
  readonly createdAt: number
  readonly expiresAt: number
  readonly monitoredUntil: number
  readonly status: InvoiceStatus
  readonly additionalStatus: AdditionalStatus
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
  readonly startsAt: number
  readonly expiresAt: number | null
  readonly archived: boolean
  readonly methods: readonly string[]
}

export interface Payout {
  readonly type: 'payout'
  readonly id: string
  readonly pullPaymentId: string | null
  readonly createdAt: number
  readonly destination: string
  readonly coin: Ticker
  readonly originalCurrency: string
  readonly originalAmount: string
  /** Smallest units of the coin, once it is approved. */
  readonly units: string | null
  readonly revision: number
  readonly state: PayoutState
  readonly proof: Readonly<Record<string, unknown>> | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** When the processor sends it, or when what it sent is confirmed. */
  readonly nextAt?: number
  /** How often it could not be sent; after ten times the processor leaves it alone for good. */
  readonly tries?: number
}

export interface Webhook {
  readonly type: 'webhook'
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly enabled: boolean
  readonly automaticRedelivery: boolean
  readonly everything: boolean
  readonly specificEvents: readonly string[]
  readonly removed: boolean
}

export interface Delivery {
  readonly type: 'delivery'
  readonly id: string
  readonly webhookId: string
  readonly createdAt: number
  readonly sentAt: number
  readonly status: 'Failed' | 'HttpError' | 'HttpSuccess'
  readonly httpCode: number | null
  readonly errorMessage: string | null
  readonly body: string
}

/** A transfer on a coin's chain, in or out of the store's wallet. */
export interface ChainTransaction {
  readonly type: 'transaction'
  /** The hash; with the place of the transfer behind it after the first of a batch. */
  readonly id: string
  readonly coin: Ticker
  readonly direction: 'in' | 'out'
  readonly units: string
  readonly fee: string
  readonly address: string
  readonly at: number
  /** What it was for: an invoice that was paid, or a payout that was sent. */
  readonly subject: string
}

/** A transfer that is in the chain and that the server has not found. */
export interface UnseenPayment {
  /** Among the transactions of the ledger. */
  readonly transfer: string
  readonly confirm: boolean
}

/** What may be set while it runs, and stays. */
export interface Settings {
  readonly type: 'settings'
  readonly id: 'settings'
  /** US dollars for one coin. */
  readonly rates: Readonly<Record<Ticker, string>>
  /** Methods that are switched off. */
  readonly disabled: readonly string[]
  /** Whether the processor sends payouts by itself. */
  readonly processor: boolean
  /** What becomes of automatic approval in coins that BTCPay's indexer has not. */
  readonly approvals?: 'work' | 'error' | 'cancel'
  /** Wallets that BTCPay has no keys of, or that hold nothing; the others are hot. */
  readonly wallets?: Readonly<Partial<Record<Ticker, 'watch_only' | 'empty'>>>
  /** While the nodes of the chains are away: what came and nobody saw. */
  readonly unseen?: readonly UnseenPayment[]
}

/** Takes an entry out again, as a database loses it that is restored from a backup. */
interface Removed {
  readonly type: 'removed'
  readonly id: string
  readonly of: Exclude<Stored['type'], 'removed' | 'transaction'>
}

export type Stored =
  | Removed
  | Invoice
  | PullPayment
  | Payout
  | Webhook
  | Delivery
  | ChainTransaction
  | Settings
export type StoredOf<T extends Stored['type']> = Extract<Stored, { type: T }>
