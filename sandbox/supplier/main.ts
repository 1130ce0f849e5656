/**
 * The sandbox supplier as a separate process. It is configured by environment variables, or by SETTINGS_FILE, which
 * names a JSON file with the same variables: SUPPLIER_API_KEY (required), SUPPLIER_PORT (0 = any free one),
 * SUPPLIER_DATA_FILE, SANDBOX_OFFERS, SUPPLIER_WEBHOOK_URL, SUPPLIER_WEBHOOK_HEADER_NAME and _VALUE,
 * SUPPLIER_LATE_SECONDS, SUPPLIER_STEP_MS. When it is ready, it prints one line of JSON:
 * `{"ready":true,"port":…,"pid":…}`.
 */
import { z } from 'zod'
import { announce, count, readEnvironment } from '../own-process.ts'
import { defaults, type SupplierOptions } from './options.ts'
import { startSupplier } from './server.ts'

const environment = z.object({
  SUPPLIER_PORT: count(defaults.port, 65_535),
  SUPPLIER_API_KEY: z.string().min(1),
  SUPPLIER_DATA_FILE: z.string().min(1).optional(),
  SANDBOX_OFFERS: count(defaults.offers, 200_000),
  SUPPLIER_WEBHOOK_URL: z.url().optional(),
  SUPPLIER_WEBHOOK_HEADER_NAME: z.string().optional(),
  SUPPLIER_WEBHOOK_HEADER_VALUE: z.string().optional(),
  SUPPLIER_LATE_SECONDS: count(defaults.lateSeconds, 86_400),
  SUPPLIER_STEP_MS: count(defaults.stepMs, 60_000),
})

function optionsFrom(env: z.infer<typeof environment>): SupplierOptions {
  const url = env.SUPPLIER_WEBHOOK_URL
  const headerName = env.SUPPLIER_WEBHOOK_HEADER_NAME
  const headerValue = env.SUPPLIER_WEBHOOK_HEADER_VALUE
  const header = headerName ? { headerName, headerValue: headerValue ?? '' } : {}
  return {
    port: env.SUPPLIER_PORT,
    apiKey: env.SUPPLIER_API_KEY,
    offers: env.SANDBOX_OFFERS,
    stepMs: env.SUPPLIER_STEP_MS,
    lateSeconds: env.SUPPLIER_LATE_SECONDS,
    ...(env.SUPPLIER_DATA_FILE ? { dataFile: env.SUPPLIER_DATA_FILE } : {}),
    ...(url ? { webhook: { url, ...header } } : {}),
  }
}

announce(await startSupplier(optionsFrom(readEnvironment('sandbox supplier', environment))))
