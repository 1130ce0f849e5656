import type { Common, Outside } from '../config.ts'
import type { Variable } from '../environment/environment.ts'
import { perSupplier } from '../environment/suppliers.ts'
import { createDigest } from '../secrets/tokens.ts'
import type { SupplierAccess } from '../suppliers/supplier.ts'
import type { SupplierName } from '../suppliers/suppliers.ts'

/** Variables that may differ between nodes. All others must be the same on every node. */
type OwnVariable =
  | 'HOST'
  | 'PORT'
  | 'WORKERS'
  | 'DRAIN_SECONDS'
  | 'LOG_LEVEL'
  | 'DATA_DIR'
  | 'SANDBOX_OFFERS'
  | 'METRICS_TOKEN'
  | 'TRUSTED_PROXIES'
  | 'RPC_URL'
  | 'GAS_KEY'
  // The keys of the digests that are compared, and the database in which they are compared.
  | 'SECRETS_KEY'
  | 'SECRETS_KEY_LOST'
  | 'DATABASE_URL'

type Value = (config: Common & Outside) => unknown

const lowerCase = (text: string) => text.toLowerCase()

function ofSupplier(name: SupplierName) {
  const of = (value: (access: SupplierAccess) => unknown) => (config: Common & Outside) => {
    const access = config.suppliers[name]
    return access && value(access)
  }
  return {
    URL: of(({ url }) => url),
    KEY: of(({ key }) => key),
    WEBHOOK_HEADER: of(({ webhook }) => webhook && lowerCase(webhook.header)),
    WEBHOOK_SECRET: of(({ webhook }) => webhook?.value),
  }
}

/** The compiler requires every variable here or in `OwnVariable`. */
const shared: Readonly<Record<Exclude<Variable, OwnVariable>, Value>> = {
  PUBLIC_URL: ({ site }) => site.url,
  STORE_NAME: ({ site }) => site.name,
  STORE_DESCRIPTION: ({ site }) => site.description,
  // The store's own default logo is below its address, which is compared separately.
  STORE_LOGO: ({ site }) => site.logo.replace(site.url, ''),
  STORE_COLOR: ({ site }) => site.color,
  STORE_CONTACT: ({ site }) => site.contact,
  TERMS_URL: ({ site: { terms } }) => (terms && 'url' in terms ? terms.url : undefined),
  TERMS_FILE: ({ site: { terms } }) => (terms && 'text' in terms ? terms.text : undefined),
  INVOICE_MINUTES: ({ invoiceMinutes }) => invoiceMinutes,
  MARKUP_BPS: ({ markupBps }) => markupBps,
  MAX_SETTLEMENT_GWEI: ({ maxSettlementWei }) => maxSettlementWei,
  FULFILLMENT_DEADLINE_SECONDS: ({ policy }) => policy.deliverWithinMs,
  REFUND_GRACE_SECONDS: ({ policy }) => policy.refundGraceMs,
  PURCHASE_WAIT_SECONDS: ({ policy }) => policy.patienceMs,
  PERSONAL_DATA_DAYS: ({ personalDataDays }) => personalDataDays,
  LIMITS_COOLING_HOURS: ({ limitsCoolingMs }) => limitsCoolingMs,
  REFUND_HOURLY_CAP_USDC: ({ refundCaps }) => refundCaps.hour,
  REFUND_DAILY_CAP_USDC: ({ refundCaps }) => refundCaps.day,
  UNPAID_PAYMENTS_PER_HOUR: ({ budgets }) => budgets.unpaid_payments,
  FAILED_ORDERS_PER_HOUR: ({ budgets }) => budgets.failed_orders,
  REDIS_URL: ({ redisUrl }) => redisUrl,
  // Each node may have a mail server of its own, but either all nodes send mail or none.
  SMTP_URL: ({ mail }) => mail !== undefined,
  SMTP_FROM: ({ mail }) => mail?.from,
  NETWORK: ({ network }) => [network.id, network.usdc],
  REHEARSAL: ({ isRehearsal = false }) => isRehearsal,
  // The nodes may use different witnesses, but either all use some or none.
  RPC_WITNESS_URLS: ({ witnesses }) => witnesses !== undefined,
  WITNESS_ABOVE_USDC: ({ witnesses }) => witnesses?.fromUsdc,
  PAY_TO: ({ payTo }) => lowerCase(payTo),
  REFUND_KEY: ({ refundKey }) => refundKey,
  FACILITATOR_URL: ({ facilitatorUrl }) => facilitatorUrl,
  FACILITATOR_KEY: ({ facilitatorKey }) => facilitatorKey?.secret,
  FACILITATOR_KEY_ID: ({ facilitatorKey }) => facilitatorKey?.id,
  FACILITATOR_EVERY_DAYS: ({ facilitatorEveryMs }) => facilitatorEveryMs,
  WALLET_FACTORIES: ({ walletFactories }) => walletFactories.map(lowerCase).sort(),
  ...perSupplier((name) => ofSupplier(name)),
  RATES_URL: ({ ratesUrl }) => ratesUrl,
  BTCPAY_URL: ({ processor }) => processor?.url,
  BTCPAY_STORE_ID: ({ processor }) => processor?.storeId,
  BTCPAY_API_KEY: ({ processor }) => processor?.apiKey,
  BTCPAY_METHODS: ({ processor }) => processor?.methods,
  BTCPAY_WEBHOOK_SECRET: ({ processor }) => processor?.webhookSecret,
}

export const sharedVariables: readonly string[] = Object.keys(shared)

/** Digests of settings by their variables. */
export type Settings = Readonly<Record<string, string>>

/**
 * The digests of a node's settings under one of its keys. With the database but without the key, nobody can
 * guess a setting from them, not even one with few possible values.
 */
export function settingsOf(config: Common & Outside, key: Buffer): Settings {
  const digest = createDigest([key], 'settings')
  const entries = Object.entries(shared).map(([name, value]) => {
    const text = JSON.stringify([name, value(config) ?? null], (_, part: unknown) =>
      typeof part === 'bigint' ? String(part) : part,
    )
    return [name, digest.of(text).slice(0, 16)] as const
  })
  return Object.fromEntries(entries)
}

/** The variables in which two nodes differ. A variable that only one of them knows is of another version. */
export function differences(own: Settings, other: Settings): readonly string[] {
  return Object.keys(own).filter((name) => name in other && own[name] !== other[name])
}
