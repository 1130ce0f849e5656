export interface BtcpayOptions {
  /** 0 takes a free port. */
  readonly port?: number
  readonly apiKey: string
  readonly storeId: string
  /** Append-only file that lets everything survive a restart; without it: memory only. */
  readonly dataFile?: string
  /** What addresses and transaction hashes are made from. */
  readonly seed?: string
  /** How long a chain takes to confirm. Default 2 s. */
  readonly confirmMs?: number
  /** How long the processor waits before it sends a payout. Default 1 s. */
  readonly payoutMs?: number
  /** How many addresses the USDt plugin was given. Default 200. */
  readonly usdtAddresses?: number
  /** Registered at the start, unless it is there already: the store's own webhook. */
  readonly webhook?: { readonly url: string; readonly secret: string }
  /** Waits between deliveries in ms; the real server's when left out. */
  readonly retryMs?: readonly number[]
}

export const defaults = {
  port: 0,
  confirmMs: 2_000,
  payoutMs: 1_000,
  usdtAddresses: 200,
  seed: 'sandbox',
} as const

export type ServerSettings = BtcpayOptions & Required<Pick<BtcpayOptions, keyof typeof defaults>>
