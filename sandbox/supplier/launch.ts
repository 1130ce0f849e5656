import { join } from 'node:path'
import { launchServer } from '../server-process.ts'

export interface LaunchedSupplier {
  /** The URL of its API, including the version. */
  readonly url: string
  readonly ratesUrl: string
  readonly apiKey: string
  readonly webhook: { readonly header: string; readonly value: string }
  stop(): Promise<void>
}

export interface SupplierLaunch {
  readonly dataDir: string
  readonly offers: number
  readonly lateSeconds: number
  /** The duration of a step of a purchase, in milliseconds. Absent: its default. */
  readonly stepMs?: number
  /** The URL of the store's webhook. */
  readonly webhookUrl: string
}

const webhookHeader = 'x-supplier-webhook'

/** Runs the supplier as a separate process. */
export async function launchSupplier(options: SupplierLaunch): Promise<LaunchedSupplier> {
  const dir = join(options.dataDir, 'supplier')
  const { port, secrets, stop } = await launchServer({
    name: 'supplier',
    dir,
    main: new URL('./main.ts', import.meta.url),
    secrets: ['apiKey', 'webhookValue'],
    settings: (free, { apiKey, webhookValue }) => ({
      SUPPLIER_PORT: String(free),
      SUPPLIER_API_KEY: apiKey,
      SUPPLIER_DATA_FILE: join(dir, 'ledger.jsonl'),
      SANDBOX_OFFERS: String(options.offers),
      SUPPLIER_WEBHOOK_URL: options.webhookUrl,
      SUPPLIER_WEBHOOK_HEADER_NAME: webhookHeader,
      SUPPLIER_WEBHOOK_HEADER_VALUE: webhookValue,
      SUPPLIER_LATE_SECONDS: String(options.lateSeconds),
      ...(options.stepMs === undefined ? {} : { SUPPLIER_STEP_MS: String(options.stepMs) }),
    }),
  })
  return {
    url: `http://127.0.0.1:${port}/v1`,
    ratesUrl: `http://127.0.0.1:${port}/rates/v1/latest`,
    apiKey: secrets.apiKey,
    webhook: { header: webhookHeader, value: secrets.webhookValue },
    stop,
  }
}
