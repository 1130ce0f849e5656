import { createProcessor } from './adapters/btcpay/processor.ts'
import { invoiceOfEvent, verifyWebhook } from './adapters/btcpay/webhook.ts'
import { noProcessor } from './checkouts/no-processor.ts'
import type { HandPayouts, Processor } from './checkouts/ports.ts'
import type { Common, Outside } from './config.ts'
import type { InvoiceEvent } from './http/processor-webhook.ts'

/** For how long the processor watches an address after its invoice: what comes then still goes back. */
const monitoringMinutes = 7 * 24 * 60
/** For one call; an invoice takes a few, and all of them end well before a lease. */
const timeoutMs = 8_000

export interface CoinPayments {
  readonly processor: Processor
  /** What an operator should know of the processor, in sentences; nothing when all is well. */
  readonly findings: () => Promise<readonly { readonly level: 'fault' | 'notice'; readonly text: string }[]>
  readonly invoiceIn: (body: Buffer, signature: string | undefined) => InvoiceEvent
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
