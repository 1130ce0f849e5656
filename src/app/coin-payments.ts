import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Finding } from '../adapters/btcpay/check.ts'
import { createProcessor, invoiceOfEvent, verifyWebhook } from '../adapters/btcpay/processor.ts'
import { createCheckoutService } from '../api/checkout.ts'
import {
  type CheckoutFacts,
  type HandPayouts,
  noProcessor,
  type PayoutRecord,
  type Processor,
} from '../checkouts/ports.ts'
import type { Common, Outside } from '../config.ts'
import type { Health } from '../health/health.ts'
import type { Header, InvoiceEvent } from '../http/routes.ts'
import { parseJson } from '../lib/http-call.ts'
import { repeat } from '../lib/scheduling.ts'
import { withRecentValue } from '../operations/cached-reads.ts'
import { type Coin, readAddress } from '../payments/coins.ts'
import type { PaidBack } from '../payments/payment.ts'

/** An address is watched for so long after its invoice expired. Payments in this time are returned. */
const monitoringMinutes = 7 * 24 * 60
/** Reading an invoice with a payout takes seven calls, which must end within the lease. */
const timeoutMs = 5_000

export type CoinPayments = ReturnType<typeof connectCoins>

interface CoinDeps {
  readonly handPayouts: HandPayouts
  readonly payoutRecord: PayoutRecord
  readonly checkoutFacts: () => Promise<Pick<CheckoutFacts, 'openByState'>>
  readonly now: () => Date
  readonly log?: Pick<Logger, 'warn' | 'info'>
  readonly health?: Pick<Health, 'noteProcessor'>
}

export function connectCoins(
  { processor: access, invoiceMinutes }: Pick<Common & Outside, 'processor' | 'invoiceMinutes'>,
  { handPayouts: hands, payoutRecord: record, checkoutFacts, now, log, health }: CoinDeps,
) {
  if (!access) {
    return {
      processor: noProcessor,
      statement: undefined,
      findings: () => findingsWithout(checkoutFacts),
      rates: { read: async () => undefined, last: () => undefined },
      invoiceIn: (): InvoiceEvent => ({ isGenuine: false }),
      readAddress,
    }
  }
  const { storeId, webhookSecret, isTestnet } = access
  const settings = { ...access, expirationMinutes: invoiceMinutes, monitoringMinutes, timeoutMs }
  const processor = createProcessor(settings, { hands, record, now })
  return {
    processor: reportingProcessor(processor, {
      unclear: (reason) => log?.warn({ reason }, 'unexpected response from the payment processor'),
      waits: (payout, reason) => log?.info({ payout, reason }, 'a payout in a coin waits'),
    }),
    statement: processor,
    findings: processor.check,
    rates: withRecentValue(processor.rates, health?.noteProcessor),
    invoiceIn: (body: Buffer, signature: Header): InvoiceEvent =>
      verifyWebhook(body, signature, webhookSecret ?? '')
        ? { isGenuine: true, invoice: invoiceOfEvent(parseJson(body.toString()), storeId) }
        : { isGenuine: false },
    readAddress: (method: Parameters<typeof readAddress>[0], text: string) =>
      readAddress(method, text, { isTestnet }),
  }
}

/** Without a processor, nothing watches the open checkouts or returns their money. */
async function findingsWithout(
  checkoutFacts: CoinDeps['checkoutFacts'],
): Promise<readonly Finding[]> {
  const { openByState } = await checkoutFacts()
  const open = Object.values(openByState).reduce((sum, count) => sum + count, 0)
  if (open === 0) return []
  const text = `${open} checkouts in coins are not closed, and without BTCPAY_URL none of them goes on.`
  return [{ level: 'fault', text }]
}

interface Telling {
  readonly unclear: (reason: string) => void
  readonly waits: (payout: string, reason: string) => void
}

/** Reports unexpected responses, and why payouts wait: once, until the reason changes. */
export function reportingProcessor(processor: Processor, { unclear, waits }: Telling): Processor {
  const unclearOnce = onChange((_, reason) => unclear(reason))
  const waitsOnce = onChange(waits)
  const reportUnclear = <T extends { readonly outcome: string; readonly reason?: string }>(
    answer: T,
  ): T => {
    unclearOnce('processor', answer.outcome === 'unknown' ? answer.reason : undefined)
    return answer
  }
  const followed = (reference: string, answer: PaidBack): PaidBack => {
    waitsOnce(reference, answer.outcome === 'pending' ? answer.reason : undefined)
    return answer
  }
  return {
    methods: processor.methods,
    sends: processor.sends,
    openInvoice: async (wanted) => reportUnclear(await processor.openInvoice(wanted)),
    endOthers: processor.endOthers,
    read: async (invoice, coin) => reportUnclear(await processor.read(invoice, coin)),
    payOut: async (payout) => followed(payout.reference, await processor.payOut(payout)),
  }
}

function onChange(tell: (key: string, value: string) => void) {
  const lastValues = new LRUCache<string, string>({ max: 1_000 })
  return (key: string, value: string | undefined) => {
    if (value !== undefined && lastValues.get(key) !== value) tell(key, value)
    lastValues.set(key, value)
  }
}

export function checkoutPagesOf(
  { mode, processor }: { readonly mode: string } & Outside,
  { rates }: CoinPayments,
  deps: Parameters<typeof createCheckoutService>[0],
) {
  if (!processor) return {}
  const payUrl = (invoice: string) => `${processor.url}/i/${encodeURIComponent(invoice)}`
  return {
    checkout: createCheckoutService(deps),
    rates: (coin: Coin) => rates.last()?.get(coin),
    ...(mode === 'sandbox' ? { sandboxPayUrl: payUrl } : {}),
  }
}

/** Rates are only shown before the invoice. Three that fail say that the processor is down. */
const ratesEveryMs = 20_000

/** An operator may remove a permission, a coin or a payout processor any time. */
const findingsEveryMs = 300_000

interface MonitorDeps {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly lookEveryMs?: number | undefined
}

export async function monitorProcessor(
  { findings, rates }: CoinPayments,
  { log, signal, lookEveryMs: everyMs = ratesEveryMs }: MonitorDeps,
): Promise<void> {
  const look = async () => {
    const isRead = (await rates.read()) !== undefined
    if (!isRead) log.warn('the payment processor gives no rates')
    return isRead
  }
  const inspect = inspectProcessor(findings, log)
  await Promise.all([
    repeat(look, { everyMs, retryMs: 5_000, signal }),
    repeat(inspect, { everyMs: findingsEveryMs, retryMs: 30_000, signal }),
  ])
}

/** Logs each finding when it appears and when it is resolved. */
export function inspectProcessor(
  findings: CoinPayments['findings'],
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): () => Promise<boolean> {
  let reportedTexts: readonly string[] = []
  return async () => {
    try {
      const currentFindings = await findings()
      for (const { level, text } of currentFindings.filter(
        (one) => !reportedTexts.includes(one.text),
      )) {
        log[level === 'fault' ? 'error' : 'warn'](`payment processor: ${text}`)
      }
      const now = currentFindings.map(({ text }) => text)
      for (const text of reportedTexts.filter((one) => !now.includes(one))) {
        log.info(`payment processor: resolved: ${text}`)
      }
      reportedTexts = now
      return true
    } catch (error) {
      log.warn({ error }, 'the payment processor could not be looked at')
      return false
    }
  }
}
