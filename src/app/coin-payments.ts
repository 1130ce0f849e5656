import type { Logger } from 'pino'
import type { Finding } from '../adapters/btcpay/check.ts'
import { createProcessor } from '../adapters/btcpay/processor.ts'
import { invoiceOfEvent, verifyWebhook } from '../adapters/btcpay/webhook.ts'
import { createCheckoutService } from '../api/checkout.ts'
import {
  type CheckoutFacts,
  type CheckoutStore,
  type HandPayouts,
  noProcessor,
  type PayoutRecord,
  type Processor,
} from '../checkouts/ports.ts'
import type { CheckoutReporter } from '../checkouts/report.ts'
import type { StartDeps } from '../checkouts/start.ts'
import type { Common, Outside } from '../config.ts'
import type { Header, InvoiceEvent } from '../http/processor-webhook.ts'
import { repeat } from '../lib/repeat.ts'
import { withLastValue } from '../operations/cached-reads.ts'
import type { PurchaseDeps } from '../orders/purchase.ts'
import { readAddress } from '../payments/coin-address.ts'
import type { Coin } from '../payments/coins.ts'
import type { PaidBack } from '../payments/ports.ts'
import type { ProcessorStatement } from '../reconcile/ports.ts'
import type { OperatorKeys } from '../secrets/keyring.ts'
import { createDigest } from '../secrets/tokens.ts'

/** For how long the processor watches an address after its invoice: what comes then still goes back. */
const monitoringMinutes = 7 * 24 * 60
/** For one call. A look at an invoice with a payout takes seven, and they end before a lease does. */
const timeoutMs = 5_000

export interface CoinPayments {
  readonly processor: Processor
  /** What the processor says of all money, for whoever compares; undefined without one. */
  readonly statement: ProcessorStatement | undefined
  /** What an operator should know of the processor, in sentences; nothing when all is well. */
  readonly findings: () => Promise<readonly Finding[]>
  /** US dollars for one of each coin; undefined once they could not be read. */
  readonly rates: {
    readonly read: () => Promise<unknown>
    readonly last: () => ReadonlyMap<Coin, string> | undefined
  }
  readonly invoiceIn: (body: Buffer, signature: Header) => InvoiceEvent
}

interface CoinDeps {
  readonly handPayouts: HandPayouts
  readonly payoutRecord: PayoutRecord
  readonly checkoutFacts: () => Promise<Pick<CheckoutFacts, 'openByState'>>
  readonly now: () => Date
  readonly log?: Pick<Logger, 'warn' | 'info'>
}

/** The way of being paid in coins, as it is configured; without BTCPay Server none is taken. */
export function connectCoins(
  { processor: access, invoiceMinutes }: Pick<Common & Outside, 'processor' | 'invoiceMinutes'>,
  { handPayouts: hands, payoutRecord: record, checkoutFacts, now, log }: CoinDeps,
): CoinPayments {
  if (!access) {
    return {
      processor: noProcessor,
      statement: undefined,
      findings: () => findingsWithout(checkoutFacts),
      rates: { read: async () => undefined, last: () => undefined },
      invoiceIn: () => ({ isGenuine: false }),
    }
  }
  const { storeId, webhookSecret } = access
  const settings = { ...access, expirationMinutes: invoiceMinutes, monitoringMinutes, timeoutMs }
  const processor = createProcessor(settings, { hands, record, now })
  const tell: Telling = {
    unclear: (reason) => log?.warn({ reason }, 'unexpected response from the payment processor'),
    waits: (payout, reason) => log?.info({ payout, reason }, 'a payout in a coin waits'),
  }
  return {
    processor: telling(processor, tell),
    statement: processor,
    findings: processor.check,
    rates: withLastValue(processor.rates),
    invoiceIn: (body, signature) =>
      verifyWebhook(body, signature, webhookSecret ?? '')
        ? { isGenuine: true, invoice: invoiceOfEvent(jsonOf(body), storeId) }
        : { isGenuine: false },
  }
}

/** What is still watched, and may have to go back, is nobody's business without the processor. */
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
  /** @param payout its reference */
  readonly waits: (payout: string, reason: string) => void
}

/** Of how many payouts it is remembered why they wait. */
const maxWaiting = 1_000

/** Says what could not be understood of the processor, and why payouts wait, once until it changes. */
export function telling(processor: Processor, { unclear, waits }: Telling): Processor {
  let told: string | undefined
  const waiting = new Map<string, string>()
  const heard = <T extends { readonly outcome: string; readonly reason?: string }>(
    answer: T,
  ): T => {
    const reason = answer.outcome === 'unknown' ? answer.reason : undefined
    if (reason !== undefined && reason !== told) unclear(reason)
    told = reason
    return answer
  }
  const followed = (reference: string, answer: PaidBack): PaidBack => {
    const before = waiting.get(reference)
    waiting.delete(reference)
    if (answer.outcome !== 'pending') return answer
    if (answer.reason !== before) waits(reference, answer.reason)
    const [oldest] = waiting.keys()
    if (oldest !== undefined && waiting.size >= maxWaiting) waiting.delete(oldest)
    waiting.set(reference, answer.reason)
    return answer
  }
  return {
    methods: processor.methods,
    sends: processor.sends,
    open: async (wanted) => heard(await processor.open(wanted)),
    endOthers: processor.endOthers,
    read: async (invoice, coin) => heard(await processor.read(invoice, coin)),
    payOut: async (payout) => followed(payout.reference, await processor.payOut(payout)),
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
    config: { processor: access },
    keys,
    checkouts,
    processor,
    report,
  }: {
    readonly config: Pick<Outside, 'processor'>
    readonly keys: OperatorKeys
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
    marks: createDigest(keys, 'checkouts'),
    readAddress: (method, text) =>
      readAddress(method, text, { isTestnet: access?.isTestnet ?? false }),
  }
}

/** What the pages of the checkout are given; a store that takes no coins has none of them. */
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

/** Rates are for a look before the invoice, so a minute is not too old for them. */
const ratesEveryMs = 60_000

/** An operator may take a permission, a coin or a payout processor away at any time. */
const findingsEveryMs = 300_000

/** Tells the operator what the processor cannot do, as it changes, and keeps the rates fresh. */
export async function monitorProcessor(
  { findings, rates }: CoinPayments,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const look = async () => {
    try {
      await rates.read()
      return true
    } catch (error) {
      log.warn({ error }, 'the payment processor gives no rates')
      return false
    }
  }
  const inspect = inspecting(findings, log)
  await Promise.all([
    repeat(look, { everyMs: ratesEveryMs, retryMs: 5_000, signal }),
    repeat(inspect, { everyMs: findingsEveryMs, retryMs: 30_000, signal }),
  ])
}

/** One look at what the processor can do. Each finding is told when it appears, and when it is gone. */
export function inspecting(
  findings: CoinPayments['findings'],
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): () => Promise<boolean> {
  let told: readonly string[] = []
  return async () => {
    try {
      const found = await findings()
      for (const { level, text } of found.filter((one) => !told.includes(one.text))) {
        log[level === 'fault' ? 'error' : 'warn'](`payment processor: ${text}`)
      }
      const now = found.map(({ text }) => text)
      for (const text of told.filter((one) => !now.includes(one))) {
        log.info(`payment processor: not so any more: ${text}`)
      }
      told = now
      return true
    } catch (error) {
      log.warn({ error }, 'the payment processor could not be looked at')
      return false
    }
  }
}
