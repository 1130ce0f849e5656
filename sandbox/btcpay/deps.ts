import type { Timers } from '../timers.ts'
import type { Ledger } from './ledger.ts'
import type { Place } from './views.ts'
import type { StoreEvent, Webhooks } from './webhooks.ts'

export interface BtcpayOptions {
  readonly port?: number
  readonly apiKey: string
  /**
   * What the key may do in the store. Default: what an operator is told to give it
   * (docs/operators/payment-processor.md), and webhooks.
   */
  readonly permissions?: readonly string[]
  readonly storeId: string
  /** An append-only file, so that everything survives a restart. Absent: memory only. */
  readonly dataFile?: string
  /** The seed of addresses and transaction hashes. */
  readonly seed?: string
  readonly confirmMs?: number
  /** How long the processor waits before it sends a payout. */
  readonly payoutMs?: number
  readonly usdtAddresses?: number
  /**
   * Which payments of BTC and LTC lose a network fee: none, as an operator is told to set it, all, or those after
   * the first, which is BTCPay's own default. A payment of Monero always loses it.
   */
  readonly networkFeeMode?: 'Never' | 'MultiplePaymentsOnly' | 'Always'
  /** How far the clock of the server's host is ahead of UTC. The times of payments are off by as much. */
  readonly hostAheadMinutes?: number
  /** How much later invoices expire that were open when the server started. */
  readonly restartGraceMs?: number
  readonly webhook?: { readonly url: string; readonly secret: string }
  /** Waits between deliveries, in milliseconds. Absent: those of the real server. */
  readonly retryMs?: readonly number[]
}

export const defaults = {
  port: 0,
  permissions: [
    'btcpay.store.canmodifyinvoices',
    'btcpay.store.canmanagepullpayments',
    'btcpay.store.canviewstoresettings',
    'btcpay.store.webhooks.canmodifywebhooks',
  ],
  confirmMs: 2_000,
  payoutMs: 1_000,
  usdtAddresses: 200,
  networkFeeMode: 'Never',
  hostAheadMinutes: 0,
  restartGraceMs: 120_000,
  seed: 'sandbox',
} as const

/** The dependencies of everything that changes invoices and payouts. */
export interface Deps {
  readonly ledger: Ledger
  readonly timers: Timers
  readonly settings: BtcpayOptions & Required<Pick<BtcpayOptions, keyof typeof defaults>>
  readonly place: Place
  /** What is carried out without an answer: the next requests with this in "POST /api/v1/stores/…". */
  readonly losing: { readonly only: string; readonly times: number }[]
  readonly webhooks: Webhooks
}

/** Sends the event to the store's webhook. */
export function tell({ webhooks, place }: Deps, event: StoreEvent): void {
  webhooks.notify({ ...event, storeId: place.storeId })
}
