/**
 * The sandbox's BTCPay Server as a separate process. It is configured by environment variables, or by SETTINGS_FILE,
 * which names a JSON file with the same variables: BTCPAY_API_KEY and BTCPAY_STORE_ID (required), BTCPAY_PORT (0 = any
 * free one), BTCPAY_DATA_FILE, BTCPAY_SEED, BTCPAY_WEBHOOK_URL and _SECRET, BTCPAY_CONFIRM_MS, BTCPAY_PAYOUT_MS. When
 * it is ready, it prints one line of JSON: `{"ready":true,"port":…,"pid":…}`.
 */
import { z } from 'zod'
import { announce, count, readEnvironment } from '../own-process.ts'
import { type BtcpayOptions, defaults } from './options.ts'
import { startBtcpay } from './server.ts'

const environment = z.object({
  BTCPAY_PORT: count(defaults.port, 65_535),
  BTCPAY_API_KEY: z.string().min(1),
  BTCPAY_STORE_ID: z.string().min(1),
  BTCPAY_DATA_FILE: z.string().min(1).optional(),
  BTCPAY_SEED: z.string().min(1).default(defaults.seed),
  BTCPAY_WEBHOOK_URL: z.url().optional(),
  BTCPAY_WEBHOOK_SECRET: z.string().default(''),
  BTCPAY_CONFIRM_MS: count(defaults.confirmMs, 86_400_000),
  BTCPAY_PAYOUT_MS: count(defaults.payoutMs, 86_400_000),
})

function optionsFrom(env: z.infer<typeof environment>): BtcpayOptions {
  const url = env.BTCPAY_WEBHOOK_URL
  return {
    port: env.BTCPAY_PORT,
    apiKey: env.BTCPAY_API_KEY,
    storeId: env.BTCPAY_STORE_ID,
    seed: env.BTCPAY_SEED,
    confirmMs: env.BTCPAY_CONFIRM_MS,
    payoutMs: env.BTCPAY_PAYOUT_MS,
    ...(env.BTCPAY_DATA_FILE ? { dataFile: env.BTCPAY_DATA_FILE } : {}),
    ...(url ? { webhook: { url, secret: env.BTCPAY_WEBHOOK_SECRET } } : {}),
  }
}

announce(await startBtcpay(optionsFrom(readEnvironment('sandbox BTCPay Server', environment))))
