import { z } from 'zod'
import { makeAddress } from './addresses.ts'
import { formatDecimal, parseDecimal, roundPrice, worthDecimals } from './amounts.ts'
import { type CoinFacts, coinOfMethod, coins, symbols, type Ticker } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { ApiError, invalid, notFound, parsed, problem } from './errors.ts'
import { newId } from './ledger.ts'
import { mark, markable, promptTotals, type Step, watch } from './life.ts'
import type { Invoice, Prompt } from './models.ts'

const checkoutSchema = z.object({
  speedPolicy: z.string().default('MediumSpeed'),
  paymentMethods: z.array(z.string()).default([]),
  lazyPaymentMethods: z.boolean().default(false),
  expirationMinutes: z.number().min(0.5).default(15),
  monitoringMinutes: z.number().min(0).default(1_440),
})
const requestSchema = z.object({
  amount: z.union([z.string(), z.number()]).nullish(),
  currency: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  checkout: checkoutSchema.prefault({}),
})
export function createInvoice(deps: Deps, body: unknown, now: number): Invoice {
  const request = parsed(requestSchema, body)
  const { checkout } = request
  const amount = amountOf(request.amount)
  if ((request.currency ?? 'USD').toUpperCase() !== 'USD') {
    throw problem(400, 'rate-unavailable', `The sandbox has no rates in ${request.currency}.`)
  }
  const wanted = coinsFor(deps, checkout.paymentMethods)
  const index = deps.ledger.all('invoice').length
  const expiresAt = now + 60_000 * checkout.expirationMinutes
  const invoice: Invoice = {
    type: 'invoice',
    id: newId(16),
    index,
    amount,
    metadata: request.metadata ?? {},
    checkout: { ...checkout, defaultPaymentMethod: wanted[0]?.methodId ?? null },
    createdAt: now,
    expiresAt,
    monitoredUntil: expiresAt + 60_000 * checkout.monitoringMinutes,
    status: 'New',
    additionalStatus: 'None',
    archived: false,
    prompts: wanted.map(({ symbol }) => ({
      coin: symbol,
      address: addressFor(deps, symbol, index),
      rate: coins[symbol].usd,
      ...(isCharged(deps, symbol) && { fee: String(coins[symbol].fee) }),
    })),
    payments: [],
  }
  keep(deps, { invoice, events: [{ type: 'InvoiceCreated' }] }, now)
  return invoice
}

function amountOf(given: string | number | null | undefined): string {
  // Without an amount the real server makes a top-up invoice, which our store never requests.
  if (given === null || given === undefined) throw invalid('amount', 'The amount is required here.')
  const worth = parseDecimal(String(given), worthDecimals)
  if (worth === undefined) throw invalid('amount', `"${given}" is not a decimal number.`)
  if (worth < 0n) throw invalid('amount', 'The amount should be 0 or more.')
  return formatDecimal(roundPrice(worth), worthDecimals)
}

function coinsFor(deps: Deps, methods: readonly string[]): CoinFacts[] {
  const asked = methods.length
    ? methods.map((method, index) => {
        const coin = coinOfMethod(method)
        const path = `checkout.paymentMethods[${index}]`
        if (!coin) throw invalid(path, 'Invalid PaymentMethodId')
        return coin
      })
    : symbols.map((symbol) => coins[symbol])
  const available = asked.filter(
    ({ symbol, isPooled }) => !isPooled || freeOf(deps, symbol) !== undefined,
  )
  if (available.length > 0) return available
  const message = 'No payment method is available for this invoice.'
  throw new ApiError(400, message, { code: 'generic-error', message })
}

function addressFor(deps: Deps, coin: Ticker, index: number): string {
  const pooled = coins[coin].isPooled ? freeOf(deps, coin) : undefined
  return pooled ?? makeAddress(coin, deps.settings.seed, `invoice ${index}`)
}

/** Whether the first payment already loses a network fee. */
function isCharged({ settings }: Deps, coin: Ticker): boolean {
  const { feeMode } = coins[coin]
  return feeMode === 'always' || (feeMode === 'store' && settings.networkFeeMode === 'Always')
}

/**
 * The prompt of an invoice after a payment to this address: BTC and LTC may cost a fee from then on, and Monero gets
 * another address while the invoice can be paid.
 */
export function promptAfter(
  { settings }: Deps,
  prompt: Prompt,
  invoice: Invoice,
  address: string,
): Prompt {
  const { coin, earlier = [] } = prompt
  const { feeMode, fee } = coins[coin]
  if (feeMode === 'store' && settings.networkFeeMode === 'MultiplePaymentsOnly') {
    return { ...prompt, fee: String(fee) }
  }
  const isAsking = invoice.status === 'New' && promptTotals(invoice, prompt).due > 0n
  if (feeMode !== 'always' || !isAsking || address !== prompt.address) return prompt
  const part = `invoice ${invoice.index} part ${earlier.length + 2}`
  const next = makeAddress(coin, settings.seed, part)
  return { ...prompt, address: next, earlier: [...earlier, prompt.address] }
}

/** The first address of the coin's list on which no invoice waits. */
function freeOf(deps: Deps, coin: Ticker): string | undefined {
  const { seed, usdtAddresses } = deps.settings
  for (let at = 0; at < usdtAddresses; at += 1) {
    const address = makeAddress(coin, seed, `pool ${at}`)
    if (waitingAt(deps, coin, address) === undefined) return address
  }
  return undefined
}

/** The invoice that waits for a payment to an address of a coin's list. */
export function waitingAt({ ledger }: Deps, coin: Ticker, address: string): Invoice | undefined {
  return ledger
    .all('invoice')
    .find(
      ({ status, prompts }) =>
        isWaiting(status) && prompts.some((one) => one.coin === coin && one.address === address),
    )
}

export function isWaiting(status: Invoice['status']): boolean {
  return status === 'New' || status === 'Processing'
}

export function invoiceOf({ ledger }: Deps, id: string): Invoice {
  const invoice = ledger.find('invoice', id)
  if (!invoice) throw notFound('invoice')
  return invoice
}

export function keep(deps: Deps, step: Step, now: number): Invoice {
  const moved = watch(step.invoice, now)
  deps.ledger.commit(moved.invoice)
  const { id: invoiceId, metadata } = moved.invoice
  for (const event of [...step.events, ...moved.events]) {
    tell(deps, { ...event, invoiceId, metadata })
  }
  schedule(deps, moved.invoice, now)
  return moved.invoice
}

/**
 * Sets a timer for the next moment at which time alone changes the invoice: when it expires, or is no longer watched.
 */
export function schedule(deps: Deps, invoice: Invoice, now: number, graceMs = 0): void {
  if (!isWaiting(invoice.status)) return
  const at = invoice.status === 'New' ? invoice.expiresAt + graceMs : invoice.monitoredUntil
  deps.timers.set(`invoice ${invoice.id}`, at - now, () => {
    keep(deps, { invoice: invoiceOf(deps, invoice.id), events: [] }, Date.now())
  })
}

export function markInvoice(deps: Deps, id: string, body: unknown, now: number): Invoice {
  const schema = z.object({ status: z.enum(['Settled', 'Invalid']) })
  const { status } = parsed(schema, body)
  const invoice = invoiceOf(deps, id)
  if (!markable(invoice).includes(status)) {
    const message = 'Status can only be marked to invalid or settled within certain conditions.'
    throw invalid('status', message)
  }
  return keep(deps, mark(invoice, status), now)
}
