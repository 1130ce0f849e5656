import { z } from 'zod'
import {
  type Invoice,
  type InvoicePayment,
  isPaid,
  seenUnits,
  settledUnits,
} from '../../checkouts/checkout.ts'
import type { InvoiceOpened, InvoiceRead, InvoiceRequest } from '../../checkouts/ports.ts'
import type { CheckoutId } from '../../lib/ids.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { BtcpayMethod } from '../../payments/btcpay-methods.ts'
import { type Coin, coinAbilities, parseUnits } from '../../payments/coins.ts'
import {
  anything,
  callGreenfield,
  describe,
  type Greenfield,
  type GreenfieldInvoice,
  type GreenfieldMethod,
  type GreenfieldRefusal,
  type GreenfieldResponse,
  invoiceSchema,
  isKeyRefused,
  listedInvoiceSchema,
  paymentMethodSchema,
  readOfStore,
  segment,
  storePath,
  type Unanswered,
  unclear,
} from './greenfield.ts'

export interface InvoiceSettings {
  readonly methods: readonly BtcpayMethod[]
  /** How long the rate is fixed and the price can be paid. */
  readonly expirationMinutes: number
  /** How long after that BTCPay watches for late and duplicate payments. */
  readonly monitoringMinutes: number
}

export interface InvoiceDeps extends InvoiceSettings {
  readonly greenfield: Greenfield
  readonly now: () => Date
}

const atOnce = 10
/** The longest that an expired invoice keeps its address in a coin whose late payments are not seen. */
const unseenMinutes = 24 * 60
/** Anybody can send any number of payments; this is room for some 40,000 of them. */
const maxPaymentsBytes = 8 * 1024 * 1024

/**
 * Found by the checkout's id as its `orderId`. A second one after a lost answer harms nobody: nobody was shown its
 * address, and every call takes the oldest.
 *
 * The USDt plugin assigns the first address on which no invoice waits, even if it was shown for another checkout. Such
 * an invoice stays open while the next one is created, until one has a free address.
 */
export async function openInvoice(
  deps: InvoiceDeps,
  request: InvoiceRequest,
): Promise<InvoiceOpened> {
  const passed = new Set<string>()
  if (request.onlyFinds) return (await findUsable(deps, request, passed)) ?? noneMade
  const method = deps.methods.find(({ coin }) => coin === request.coin)
  if (method === undefined)
    return refused('coin_unavailable', `This store takes no ${request.coin}.`)
  // BTCPay counts dollars in whole cents, and would round the rest away.
  if (request.amount % 10_000n !== 0n)
    return refused('invalid_amount', 'The price is not in cents.')

  const before = await findUsable(deps, request, passed)
  if (before !== undefined) return before
  return searchInvoice(deps, method, request, passed)
}

async function searchInvoice(
  deps: InvoiceDeps,
  method: BtcpayMethod,
  request: InvoiceRequest,
  passed: Set<string>,
): Promise<InvoiceOpened> {
  for (let count = 0; count < atOnce; count += 1) {
    const made = await createInvoice(deps, method, request)
    if (made.outcome !== 'ok') return unmade(deps, request, made, passed)
    const candidate = await readOpenInvoice(deps, request, made.value)
    if (candidate.outcome !== 'open') return candidate
    const { size } = passed
    if (!(await isPassed(request, candidate.invoice.address, passed))) {
      return { ...candidate, hasOthers: size > 0 }
    }
    // BTCPay has assigned an address on which an invoice waits, so it would assign this one for ever.
    if (passed.size === size) return allTaken
  }
  return { outcome: 'searching' }
}

async function unmade(
  deps: InvoiceDeps,
  request: InvoiceRequest,
  made: GreenfieldRefusal | { readonly outcome: 'unknown'; readonly reason: string },
  passed: Set<string>,
): Promise<InvoiceOpened> {
  const after = await findUsable(deps, request, passed)
  if (after !== undefined) return after
  if (made.outcome === 'unknown') return made
  if (isKeyRefused(made) || made.status === 404)
    return { outcome: 'unknown', reason: describe(made) }
  if (passed.size > 0) return allTaken
  return refused(
    'processor_refused',
    `The payment processor makes no invoice in ${request.coin} now.`,
  )
}

const noneMade = refused('no_invoice', 'The payment processor has made no invoice.')

const allTaken = refused(
  'address_taken',
  'The payment processor has only addresses that other checkouts still use.',
)

export async function endOthers(
  greenfield: Greenfield,
  checkout: CheckoutId,
  except: string | undefined,
): Promise<boolean> {
  const result = await findInvoices(greenfield, checkout)
  if (result.outcome === 'unknown') return false
  const others = result.invoices.filter(({ id }) => id !== except)
  for (const { id } of others.slice(0, atOnce)) {
    const path = storePath(greenfield, invoicePath(id))
    const body = { status: 'Invalid' }
    const ended = await callGreenfield(greenfield, anything, {
      method: 'POST',
      path: `${path}/status`,
      body,
    })
    // BTCPay rejects the status of one that is over, as a field of the request. Any other refusal leaves it as it was.
    const isOver = ended.outcome === 'refused' && ended.code === 'invalid'
    if (ended.outcome !== 'ok' && !isOver) return false
    const archived = await callGreenfield(greenfield, anything, { method: 'DELETE', path })
    if (archived.outcome !== 'ok') return false
  }
  return others.length <= atOnce
}

/** Its only payment method is found by the coin, because the operator may have changed the network since. */
export async function readInvoice(deps: InvoiceDeps, id: string, coin: Coin): Promise<InvoiceRead> {
  const response = await readOfStore(deps.greenfield, invoiceSchema, invoicePath(id))
  if (response.outcome !== 'ok') {
    return (await isGone(deps, id, response)) ? gone : unclear(response)
  }
  return withPayments(deps, coin, response.value)
}

const gone: InvoiceRead = {
  outcome: 'unknown',
  reason: 'BTCPay does not know the invoice any more',
  isGone: true,
}

/** BTCPay answers 403 both to an unknown invoice and to a key without permission. The list of invoices tells which. */
async function isGone(
  { greenfield }: InvoiceDeps,
  id: string,
  response: Unanswered,
): Promise<boolean> {
  if (response.outcome === 'unknown' || (response.status !== 403 && response.status !== 404))
    return false
  const path = `/invoices?textSearch=${segment(id)}&includeArchived=true`
  const listed = await readOfStore(greenfield, z.array(invoiceSchema), path)
  return listed.outcome === 'ok' && listed.value.every((one) => one.id !== id)
}

async function findUsable(
  deps: InvoiceDeps,
  request: InvoiceRequest,
  passed: Set<string>,
): Promise<InvoiceOpened | undefined> {
  const result = await findInvoices(deps.greenfield, request.checkout)
  if (result.outcome === 'unknown') return result
  const hasOthers = result.invoices.length > 1
  for (const invoice of result.invoices) {
    const listed = invoice.paymentMethods?.[0]?.destination
    if (listed && (await isPassed(request, listed, passed))) continue
    const candidate = await readOpenInvoice(deps, request, invoice)
    if (candidate.outcome !== 'open') return candidate
    if (!(await isPassed(request, candidate.invoice.address, passed)))
      return { ...candidate, hasOthers }
  }
  return undefined
}

async function isPassed({ isTaken }: InvoiceRequest, address: string, passed: Set<string>) {
  const isOthers = (await isTaken?.(address)) === true
  if (isOthers) passed.add(address)
  return isOthers
}

async function findInvoices(greenfield: Greenfield, checkout: CheckoutId) {
  const path = `/invoices?orderId=${encodeURIComponent(checkout)}&includePaymentMethods=true`
  const response = await readOfStore(greenfield, z.array(listedInvoiceSchema), path)
  if (response.outcome !== 'ok') return unclear(response)
  const ours = response.value.filter(({ metadata }) => metadata.orderId === checkout)
  const byAge = ours.sort((a, b) => a.createdTime - b.createdTime || (a.id < b.id ? -1 : 1))
  return { outcome: 'found', invoices: byAge } as const
}

function createInvoice(
  { greenfield, expirationMinutes, monitoringMinutes }: InvoiceDeps,
  method: BtcpayMethod,
  { checkout, order, amount, coin }: InvoiceRequest,
): Promise<GreenfieldResponse<GreenfieldInvoice>> {
  const body = {
    amount: formatUsdc(amount),
    currency: 'USD',
    // BTCPay finds invoices by `orderId`. `storeOrder` names the order in case the store's record is lost.
    metadata: { orderId: checkout, storeOrder: order },
    checkout: {
      paymentMethods: [method.id],
      // Otherwise the invoice has an address only after somebody opens BTCPay's own page.
      lazyPaymentMethods: false,
      expirationMinutes,
      // Keeps the address for this invoice, even if late payments are not seen.
      monitoringMinutes: coinAbilities[coin].isSeenLate
        ? monitoringMinutes
        : Math.min(monitoringMinutes, unseenMinutes),
    },
  }
  return callGreenfield(greenfield, invoiceSchema, {
    method: 'POST',
    path: storePath(greenfield, '/invoices'),
    body,
  })
}

async function readOpenInvoice(
  deps: InvoiceDeps,
  request: InvoiceRequest,
  invoice: GreenfieldInvoice,
) {
  if (!fitsRequest(invoice, request)) {
    return unknown('the invoice at BTCPay asks for something else')
  }
  const result = await withPayments(deps, request.coin, invoice)
  return result.outcome === 'found'
    ? ({ outcome: 'open', invoice: result.invoice } as const)
    : result
}

function fitsRequest(invoice: GreenfieldInvoice, request: InvoiceRequest): boolean {
  const [whole = '', fraction = ''] = invoice.amount.split('.')
  const atomic = BigInt(whole + fraction.slice(0, 6).padEnd(6, '0'))
  const isExact = atomic === request.amount && !/[1-9]/.test(fraction.slice(6))
  return isExact && invoice.currency === 'USD'
}

/** Read after its status, so that a settled invoice has the payments that settled it. */
async function withPayments(
  { greenfield, now }: InvoiceDeps,
  coin: Coin,
  invoice: GreenfieldInvoice,
): Promise<InvoiceRead> {
  const path = `${invoicePath(invoice.id)}/payment-methods?onlyAccountedPayments=false`
  const schema = z.array(paymentMethodSchema)
  const response = await readOfStore(greenfield, schema, path, maxPaymentsBytes)
  return response.outcome === 'ok'
    ? invoiceOf(invoice, response.value, coin, now())
    : unclear(response)
}

/** Below its store: releases before 2.4.0 have some of these calls nowhere else. */
function invoicePath(id: string): string {
  return `/invoices/${segment(id)}`
}

function refused(code: string, reason: string): InvoiceOpened {
  return { outcome: 'refused', code, reason }
}

const statuses = { Invalid: 'INVALID', Processing: 'PROCESSING', Settled: 'SETTLED' } as const

function invoiceOf(
  invoice: GreenfieldInvoice,
  methods: readonly GreenfieldMethod[],
  coin: Coin,
  now: Date,
): InvoiceRead {
  const [method, ...others] = methods.filter(({ paymentMethodId: id }) => isOf(coin, id))
  if (others.length > 0) return unknown(`BTCPay shows several ways to pay the invoice in ${coin}`)
  if (!method?.destination) return unknown(`BTCPay shows no address for ${coin} of the invoice`)
  const money = moneyOf(method, coin)
  if (money === undefined) return unknown(`BTCPay shows an amount that is none of ${coin}`)
  const expiresAt = dateOf(invoice.expirationTime)
  const status = statusOf(invoice, { ...money, expiresAt }, now)
  if (status === undefined) {
    const { status: one, additionalStatus: other } = invoice
    return unknown(`BTCPay calls the invoice ${one} and ${other}, which contradict each other`)
  }
  const result: Invoice = {
    id: invoice.id,
    status,
    address: method.destination,
    addresses: [method.destination],
    paymentLink: linkOf(method.paymentLink, method.destination),
    rate: method.rate,
    ...money,
    expiresAt,
    watchedUntil: dateOf(invoice.monitoringExpiration),
  }
  return { outcome: 'found', invoice: result }
}

/** Tron wallets read the amount in a link as TRX, whichever token the invoice asks for. */
function linkOf(link: string | null | undefined, address: string): string {
  return !link || /^tron:/i.test(link) ? address : link
}

function isOf(coin: Coin, method: string): boolean {
  return method.toUpperCase().startsWith(`${coin}-`)
}

function moneyOf(
  method: GreenfieldMethod,
  coin: Coin,
): Pick<Invoice, 'units' | 'due' | 'payments'> | undefined {
  try {
    const units = parseUnits(method.amount, coin)
    const due = method.due.startsWith('-') ? 0n : parseUnits(method.due, coin)
    const payments = method.payments.map(
      ({ id, value, status, receivedDate }): InvoicePayment => ({
        id,
        transaction: transactionOf(id),
        units: parseUnits(value, coin),
        status: statuses[status],
        receivedAt: dateOf(receivedDate),
      }),
    )
    return units > 0n ? { units, due, payments: withOwnIds(payments) } : undefined
  } catch {
    return undefined
  }
}

/** "{transaction}-{output}" for coins of Bitcoin's kind, "{transaction}#{account}#{address}" for Monero. */
function transactionOf(id: string): string {
  const [, transaction = id] = /^((?:0x)?[0-9a-f]{64})(?:[-#].*)?$/i.exec(id) ?? []
  return transaction
}

/** Numbers payments that share an id, because part of the money would be lost if they were merged. */
function withOwnIds(payments: readonly InvoicePayment[]): readonly InvoicePayment[] {
  const counts = new Map<string, number>()
  return payments.map((payment) => {
    const count = (counts.get(payment.id) ?? 0) + 1
    counts.set(payment.id, count)
    return count === 1 ? payment : { ...payment, id: `${payment.id}~${count}` }
  })
}

function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000)
}

function unknown(reason: string) {
  return { outcome: 'unknown', reason } as const
}

type Status = Invoice['status']

export interface InvoiceMoney {
  readonly units: bigint
  readonly expiresAt: Date
  readonly payments: readonly InvoicePayment[]
}

/** Undefined if BTCPay's two statuses contradict each other. */
export function statusOf(
  { status, additionalStatus }: Pick<GreenfieldInvoice, 'status' | 'additionalStatus'>,
  money: InvoiceMoney,
  now: Date,
): Status | undefined {
  switch (status) {
    case 'New':
      // PaidPartial: a part has arrived, and there is time for the rest.
      return ['None', 'PaidPartial'].includes(additionalStatus) ? 'NEW' : undefined
    case 'Expired':
      // Paid in part, late or not at all: the time is over, and everything received goes back.
      return 'EXPIRED'
    case 'Invalid':
      // It was never confirmed, or an operator marked it as invalid: nothing is delivered for it.
      return 'INVALID'
    case 'Processing':
    case 'Settled':
      return statusOfPaid({ status, additionalStatus }, money, now)
  }
}

function statusOfPaid(
  { status, additionalStatus }: Pick<GreenfieldInvoice, 'status' | 'additionalStatus'>,
  money: InvoiceMoney,
  now: Date,
): Status | undefined {
  // Paid in full but late: treated as expired, because the buyer was told that it had expired.
  if (additionalStatus === 'PaidLate') return 'EXPIRED'
  if (status === 'Settled' && additionalStatus === 'Marked') return statusByMoney(money, now)
  if (additionalStatus !== 'None' && additionalStatus !== 'PaidOver') return undefined
  if (status === 'Processing') return 'PROCESSING'
  // Some confirmed money is required: an order that nothing was paid for could not be refunded.
  if (settledUnits(money) === 0n) return undefined
  return isPaid(money) ? 'SETTLED' : statusByMoney(money, now)
}

/** Marked by an operator, or settled for much less than its price: only confirmed money that came in time counts. */
function statusByMoney({ units, expiresAt, payments }: InvoiceMoney, now: Date): Status {
  const inTime = { payments: payments.filter(({ receivedAt }) => receivedAt <= expiresAt) }
  if (settledUnits(inTime) >= units) return 'SETTLED'
  if (seenUnits(inTime) >= units) return 'PROCESSING'
  return now > expiresAt ? 'EXPIRED' : 'NEW'
}
