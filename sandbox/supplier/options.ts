/** Where and how changes of purchases are reported. */
export interface WebhookOptions {
  readonly url: string
  readonly headerName?: string
  readonly headerValue?: string
  /** Waits between attempts in ms; when they are used up the report is given up. */
  readonly retryMs?: readonly number[]
  readonly timeoutMs?: number
}

export interface SupplierOptions {
  /** 0 takes a free port. */
  readonly port?: number
  readonly apiKey: string
  /** Append-only file that lets purchases and wallet survive a restart; without it: memory only. */
  readonly dataFile?: string
  /** Number of offers, test and flawed ones included. Default 12 000. */
  readonly offers?: number
  /** The pace: a purchase takes four steps. Default 250 ms; `SLOW` takes 100 steps. */
  readonly stepMs?: number
  /** Seconds after which `LATE` is delivered. Default 660: past the deadline of the store. */
  readonly lateSeconds?: number
  /** Opening balance of the wallet in US cents. Default 1 000 000 USD. */
  readonly balance?: number
  readonly webhook?: WebhookOptions
}

export const defaults = {
  port: 0,
  offers: 12_000,
  stepMs: 250,
  lateSeconds: 660,
  balance: 100_000_000,
} as const

export type Settings = SupplierOptions & {
  readonly [Key in keyof typeof defaults]: number
}
