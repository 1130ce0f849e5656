/** Where and how the supplier reports changes of purchases. */
export interface WebhookOptions {
  readonly url: string
  readonly headerName?: string
  readonly headerValue?: string
  /** Waits between attempts, in milliseconds; after the last one the report is dropped. */
  readonly retryMs?: readonly number[]
  readonly timeoutMs?: number
}

export interface SupplierOptions {
  /** 0 chooses a free port. */
  readonly port?: number
  readonly apiKey: string
  /** An append-only file, so that purchases and the wallet survive a restart. Absent: memory only. */
  readonly dataFile?: string
  /** The number of offers, including test and flawed ones. Default 12,000. */
  readonly offers?: number
  /** The duration of a step. A purchase takes four steps, `SLOW` 100. Default 250 ms. */
  readonly stepMs?: number
  /** Seconds after which `LATE` is delivered. Default 660: past the deadline of the store. */
  readonly lateSeconds?: number
  /** The opening balance of the wallet in US cents. Default 1,000,000 USD. */
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
