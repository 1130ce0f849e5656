import type { Logger } from 'pino'
import type { Finding } from './adapters/btcpay/check.ts'
import { createProcessor } from './adapters/btcpay/processor.ts'
import { invoiceOfEvent, verifyWebhook } from './adapters/btcpay/webhook.ts'
import { noProcessor } from './checkouts/no-processor.ts'
import type { CheckoutStore, HandPayouts, Processor } from './checkouts/ports.ts'
import type { CheckoutReporter } from './checkouts/report.ts'
import type { StartDeps } from './checkouts/start.ts'
import type { Common, Outside } from './config.ts'
import { openCheckoutDesk } from './desk/checkout/open-desk.ts'
import type { Header, InvoiceEvent } from './http/processor-webhook.ts'
import type { PurchaseDeps } from './orders/purchase.ts'
import { readAddress } from './payments/coin-address.ts'
import { createDigest } from './secrets/tokens.ts'

/** For how long the processor watches an address after its invoice: what comes then still goes back. */
const monitoringMinutes = 7 * 24 * 60
/** For one call; an invoice takes a few, and all of them end well before a lease. */
const timeoutMs = 6_000

export interface CoinPayments {
  readonly processor: Processor
  /** What an operator should know of the processor, in sentences; nothing when all is well. */
  readonly findings: () => Promise<readonly Finding[]>
  readonly invoiceIn: (body: Buffer, signature: Header) => InvoiceEvent
}

/** The way of being paid in coins, as it is configured; without BTCPay Server none is taken. */
export function connectCoins(
  { processor: access, invoiceMinutes }: Pick<Common & Outside, 'processor' | 'invoiceMinutes'>,
  { hands, now }: { readonly hands: HandPayouts; readonly now: () => Date },
): CoinPayments {
  if (!access) {
    return {
      processor: noProcessor,
      findings: async () => [],
      invoiceIn: () => ({ isGenuine: false }),
    }
  }
  const { storeId, webhookSecret } = access
  const settings = { ...access, expirationMinutes: invoiceMinutes, monitoringMinutes, timeoutMs }
  const processor = createProcessor(settings, { hands, now })
  return {
    processor,
    findings: processor.check,
    invoiceIn: (body, signature) =>
      verifyWebhook(body, signature, webhookSecret ?? '')
        ? { isGenuine: true, invoice: invoiceOfEvent(jsonOf(body), storeId) }
        : { isGenuine: false },
  }
}

/** What the processor signed and is no JSON says nothing. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** Everything that a checkout is carried with, from its form to its order and what goes back. */
export function checkoutDepsOf(
  purchases: PurchaseDeps,
  {
    config: { secretsKeys, processor: access },
    checkouts,
    processor,
    report,
  }: {
    readonly config: Pick<Outside, 'secretsKeys' | 'processor'>
    readonly checkouts: CheckoutStore
    readonly processor: Processor
    readonly report: CheckoutReporter
  },
): StartDeps {
  return {
    ...purchases,
    checkouts,
    processor,
    reportCheckout: report,
    marks: createDigest(secretsKeys, 'checkouts'),
    readAddress: (method, text) =>
      readAddress(method, text, { isTestnet: access?.isTestnet ?? false }),
  }
}

/** What the pages of the checkout are given; a store that takes no coins has none of them. */
export function checkoutDoorOf(
  { mode, processor }: { readonly mode: string } & Outside,
  deps: StartDeps,
) {
  if (!processor) return {}
  const payUrl = (invoice: string) => `${processor.url}/i/${encodeURIComponent(invoice)}`
  return {
    checkout: openCheckoutDesk(deps),
    ...(mode === 'sandbox' ? { sandboxPayUrl: payUrl } : {}),
  }
}

/** Tells the operator what the processor cannot do. It may come up later than the store. */
export async function tellFindings({ findings }: CoinPayments, log: Logger): Promise<void> {
  for (const { level, text } of await findings()) {
    log[level === 'fault' ? 'error' : 'warn'](`payment processor: ${text}`)
  }
}
