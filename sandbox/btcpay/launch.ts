import { join } from 'node:path'
import { launchServer } from '../server-process.ts'

export interface LaunchedBtcpay {
  /** Its origin: the page for people, with Greenfield below `/api/v1`. */
  readonly url: string
  readonly storeId: string
  readonly apiKey: string
  readonly webhookSecret: string
  stop(): Promise<void>
}

export interface BtcpayLaunch {
  readonly dataDir: string
  /** The URL to which the store's webhooks are sent. */
  readonly btcpayWebhookUrl: string
  /** How long a chain takes to confirm, in milliseconds. Absent: its default. */
  readonly confirmMs?: number
  /** How long the processor waits before it sends a payout, in milliseconds. Absent: its default. */
  readonly payoutMs?: number
}

const storeId = 'SandboxStore1111111111111111111111111111111'

/** Runs the sandbox's BTCPay Server as a process of its own. */
export async function launchBtcpay(options: BtcpayLaunch): Promise<LaunchedBtcpay> {
  const dir = join(options.dataDir, 'btcpay')
  const { confirmMs, payoutMs } = options
  const { port, secrets, stop } = await launchServer({
    name: 'BTCPay Server',
    dir,
    main: new URL('./main.ts', import.meta.url),
    secrets: ['apiKey', 'webhookSecret', 'seed'],
    settings: (free, { apiKey, webhookSecret, seed }) => ({
      BTCPAY_PORT: String(free),
      BTCPAY_API_KEY: apiKey,
      BTCPAY_STORE_ID: storeId,
      BTCPAY_DATA_FILE: join(dir, 'ledger.jsonl'),
      BTCPAY_SEED: seed,
      BTCPAY_WEBHOOK_URL: options.btcpayWebhookUrl,
      BTCPAY_WEBHOOK_SECRET: webhookSecret,
      ...(confirmMs === undefined ? {} : { BTCPAY_CONFIRM_MS: String(confirmMs) }),
      ...(payoutMs === undefined ? {} : { BTCPAY_PAYOUT_MS: String(payoutMs) }),
    }),
  })
  const { apiKey, webhookSecret } = secrets
  return { url: `http://127.0.0.1:${port}`, storeId, apiKey, webhookSecret, stop }
}
