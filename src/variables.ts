import type { commonShape, liveShape, sandboxShape } from './environment.ts'

/** Every variable that the store reads; MODE decides which of them it knows. */
export type Variable = keyof typeof commonShape | keyof typeof sandboxShape | keyof typeof liveShape

/** Whether its value may be seen. A URL that can carry a password or a key is secret. */
type Secrecy = 'open' | 'secret'

/** The one place that says which variables are secret; the compiler asks for every new one. */
const secrecy: Readonly<Record<Variable, Secrecy>> = {
  HOST: 'open',
  PORT: 'open',
  WORKERS: 'open',
  REDIS_URL: 'secret',
  PUBLIC_URL: 'open',
  STORE_NAME: 'open',
  STORE_DESCRIPTION: 'open',
  STORE_LOGO: 'open',
  STORE_COLOR: 'open',
  STORE_CONTACT: 'open',
  TERMS_URL: 'open',
  TERMS_FILE: 'open',
  INVOICE_MINUTES: 'open',
  MARKUP_BPS: 'open',
  MAX_SETTLEMENT_GWEI: 'open',
  FULFILLMENT_DEADLINE_SECONDS: 'open',
  REFUND_GRACE_SECONDS: 'open',
  PURCHASE_WAIT_SECONDS: 'open',
  PERSONAL_DATA_DAYS: 'open',
  ARCHIVE_AFTER_MONTHS: 'open',
  LIMITS_COOLING_HOURS: 'open',
  REFUND_HOURLY_CAP_USDC: 'open',
  REFUND_DAILY_CAP_USDC: 'open',
  UNPAID_PAYMENTS_PER_HOUR: 'open',
  FAILED_ORDERS_PER_HOUR: 'open',
  TRUSTED_PROXIES: 'open',
  SMTP_URL: 'secret',
  SMTP_FROM: 'open',
  METRICS_TOKEN: 'secret',
  DRAIN_SECONDS: 'open',
  LOG_LEVEL: 'open',
  DATA_DIR: 'open',
  SANDBOX_OFFERS: 'open',
  NETWORK: 'open',
  REHEARSAL: 'open',
  RPC_URL: 'secret',
  RPC_WITNESS_URLS: 'secret',
  WITNESS_ABOVE_USDC: 'open',
  PAY_TO: 'open',
  GAS_KEY: 'secret',
  REFUND_KEY: 'secret',
  DATABASE_URL: 'secret',
  SUPPLIER_URL: 'open',
  SUPPLIER_KEY: 'secret',
  SECRETS_KEY: 'secret',
  SECRETS_KEY_LOST: 'open',
  FACILITATOR_URL: 'secret',
  FACILITATOR_KEY: 'secret',
  FACILITATOR_KEY_ID: 'open',
  FACILITATOR_EVERY_DAYS: 'open',
  WALLET_FACTORIES: 'open',
  SUPPLIER_WEBHOOK_HEADER: 'open',
  SUPPLIER_WEBHOOK_SECRET: 'secret',
  RATES_URL: 'secret',
  BTCPAY_URL: 'open',
  BTCPAY_STORE_ID: 'open',
  BTCPAY_API_KEY: 'secret',
  BTCPAY_METHODS: 'open',
  BTCPAY_WEBHOOK_SECRET: 'secret',
}

export const secretVariables: readonly string[] = Object.entries(secrecy)
  .filter(([, how]) => how === 'secret')
  .map(([name]) => name)
