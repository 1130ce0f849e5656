import { z } from 'zod'
import type { Invoice } from '../../checkouts/checkout.ts'
import type { InvoiceOpened, InvoiceRead, WantedInvoice } from '../../checkouts/ports.ts'
import type { CheckoutId } from '../../lib/ids.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { BtcpayMethod } from '../../payments/btcpay-methods.ts'
import { type Coin, coinAbilities } from '../../payments/coins.ts'
import {
  ask,
  describe,
  type Greenfield,
  type GreenfieldRefusal,
  type GreenfieldResponse,
  isKeyRefused,
  segment,
} from './greenfield.ts'
import { invoiceOf } from './invoice.ts'
import {
  anything,
  type GreenfieldInvoice,
  invoiceSchema,
  type ListedInvoice,
  listedInvoiceSchema,
  paymentMethodSchema,
} from './schemas.ts'

export interface InvoiceDeps {
  readonly greenfield: Greenfield
  readonly methods: readonly BtcpayMethod[]
  /** How long the rate is fixed and the price can be paid. */
  readonly expirationMinutes: number
  /** How long after that BTCPay watches for late and duplicate payments. */
  readonly monitoringMinutes: number
  readonly now: () => Date
}

/** The most invoices that one call creates or ends, which takes some seconds. */
const atOnce = 10
/** A checkout's invoices are few; this is room for hundreds. */
const maxListBytes = 2 * 1024 * 1024
/**
 * The longest time that an expired invoice keeps its address if BTCPay does not see late payments of the
 * coin.
 */
const unseenMinutes = 24 * 60
/** Anybody can send any number of payments; this is room for some 40,000 of them. */
const maxPaymentsBytes = 8 * 1024 * 1024

/**
 * Creates the invoice of a checkout, or finds the one that was created before: each has the checkout's id as
 * its `orderId`, by which BTCPay finds it.
 *
 * If an answer is lost, its invoice may appear only after the store has looked for it, and a second one is
 * created. That harms nobody: nobody was shown its address, and it expires. Every call takes the oldest
 * invoice, so that all take the same one.
 *
 * The USDt plugin assigns the first address of its list on which no invoice waits, even if it was shown for
 * another checkout. So an invoice with an address of another checkout stays open while the next one is
 * created, until one has a free address or BTCPay has no more.
 */
export async function openInvoice(
  deps: InvoiceDeps,
  wanted: WantedInvoice,
): Promise<InvoiceOpened> {
  const passed = new Set<string>()
  if (wanted.onlyFinds) return (await known(deps, wanted, passed)) ?? noneMade
  const method = deps.methods.find(({ coin }) => coin === wanted.coin)
  if (method === undefined)
    return refused('coin_unavailable', `This store takes no ${wanted.coin}.`)
  // BTCPay counts dollars in whole cents, and would round the rest away.
  if (wanted.amount % 10_000n !== 0n) return refused('invalid_amount', 'The price is not in cents.')

  const before = await known(deps, wanted, passed)
  if (before !== undefined) return before
  return search(deps, method, wanted, passed)
}

/** @param passed the addresses of the invoices so far, all of which are taken */
async function search(
  deps: InvoiceDeps,
  method: BtcpayMethod,
  wanted: WantedInvoice,
  passed: Set<string>,
): Promise<InvoiceOpened> {
  for (let count = 0; count < atOnce; count += 1) {
    const made = await create(deps, method, wanted)
    if (made.outcome !== 'ok') return unmade(deps, wanted, made, passed)
    const shown = await shownAs(deps, wanted, made.value)
    if (shown.outcome !== 'open') return shown
    const { size } = passed
    if (!(await isPassed(wanted, shown.invoice.address, passed))) {
      return { ...shown, hasOthers: size > 0 }
    }
    // BTCPay has assigned an address on which an invoice waits, so it would assign this one for ever.
    if (passed.size === size) return allTaken
  }
  return { outcome: 'searching' }
}

/** Whatever the answer was, an invoice that exists now is used. */
async function unmade(
  deps: InvoiceDeps,
  wanted: WantedInvoice,
  made: GreenfieldRefusal | { readonly outcome: 'unknown'; readonly reason: string },
  passed: Set<string>,
): Promise<InvoiceOpened> {
  const after = await known(deps, wanted, passed)
  if (after !== undefined) return after
  if (made.outcome === 'unknown') return made
  if (isKeyRefused(made) || made.status === 404)
    return { outcome: 'unknown', reason: describe(made) }
  if (passed.size > 0) return allTaken
  return refused(
    'processor_refused',
    `The payment processor makes no invoice in ${wanted.coin} now.`,
  )
}

const noneMade = refused('no_invoice', 'The payment processor has made no invoice.')

const allTaken = refused(
  'address_taken',
  'The payment processor has only addresses that other checkouts still use.',
)

/**
 * Marks the checkout's invoices as invalid, except the one that was shown, and archives them. BTCPay refuses
 * to mark one that is over already; that one is only archived.
 */
export async function endOthers(
  greenfield: Greenfield,
  checkout: CheckoutId,
  shown: string | undefined,
): Promise<boolean> {
  const found = await find(greenfield, checkout)
  if (found.outcome === 'unknown') return false
  const others = found.invoices.filter(({ id }) => id !== shown)
  for (const { id } of others.slice(0, atOnce)) {
    const path = `/invoices/${segment(id)}`
    const body = { status: 'Invalid' }
    const ended = await ask(greenfield, anything, { method: 'POST', path: `${path}/status`, body })
    if (ended.outcome !== 'ok' && !isOverAlready(ended)) return false
    const archived = await ask(greenfield, anything, { method: 'DELETE', path })
    if (archived.outcome !== 'ok') return false
  }
  return others.length <= atOnce
}

/**
 * BTCPay rejects the status, as a field of the request. Any other refusal, as one of the API key, leaves the
 * invoice as it was.
 */
function isOverAlready(response: Exclude<GreenfieldResponse<unknown>, { outcome: 'ok' }>): boolean {
  return response.outcome === 'refused' && response.code === 'invalid'
}

/**
 * Reads the invoice as BTCPay has it now. Its only payment method is found by the coin, because the operator
 * may have removed the coin or changed its network since, and payments to the invoice still count.
 */
export async function readInvoice(deps: InvoiceDeps, id: string, coin: Coin): Promise<InvoiceRead> {
  const path = `/invoices/${segment(id)}`
  const response = await ask(deps.greenfield, invoiceSchema, { method: 'GET', path })
  if (response.outcome !== 'ok') {
    return (await isGone(deps, id, response)) ? gone : unclear(response)
  }
  // A key may have access to several stores, and BTCPay chose the id.
  if (response.value.storeId !== deps.greenfield.storeId) {
    return { outcome: 'unknown', reason: 'the invoice belongs to another store of BTCPay' }
  }
  return withPayments(deps, coin, response.value)
}

const gone: InvoiceRead = {
  outcome: 'unknown',
  reason: 'BTCPay does not know the invoice any more',
  isGone: true,
}

/**
 * Whether BTCPay has lost the invoice. It finds the store of a call through the invoice, and so answers 403
 * both to an unknown invoice and to a key without permission. The list of the store's invoices tells which.
 */
async function isGone(
  { greenfield }: InvoiceDeps,
  id: string,
  response: Exclude<GreenfieldResponse<unknown>, { outcome: 'ok' }>,
): Promise<boolean> {
  if (response.outcome === 'unknown' || (response.status !== 403 && response.status !== 404))
    return false
  const path = `${invoicesOf(greenfield)}?textSearch=${segment(id)}&includeArchived=true`
  const request = { method: 'GET', path, maxBytes: maxListBytes } as const
  const listed = await ask(greenfield, z.array(invoiceSchema), request)
  return listed.outcome === 'ok' && listed.value.every((one) => one.id !== id)
}

/** The checkout's oldest invoice whose address no other checkout has; undefined if there is none. */
async function known(
  deps: InvoiceDeps,
  wanted: WantedInvoice,
  passed: Set<string>,
): Promise<InvoiceOpened | undefined> {
  const found = await find(deps.greenfield, wanted.checkout)
  if (found.outcome === 'unknown') return found
  const hasOthers = found.invoices.length > 1
  for (const invoice of found.invoices) {
    const listed = invoice.paymentMethods?.[0]?.destination
    if (listed && (await isPassed(wanted, listed, passed))) continue
    const shown = await shownAs(deps, wanted, invoice)
    if (shown.outcome !== 'open') return shown
    if (!(await isPassed(wanted, shown.invoice.address, passed))) return { ...shown, hasOthers }
  }
  return undefined
}

async function isPassed({ isTaken }: WantedInvoice, address: string, passed: Set<string>) {
  const isOthers = (await isTaken?.(address)) === true
  if (isOthers) passed.add(address)
  return isOthers
}

type FindResult =
  | { readonly outcome: 'found'; readonly invoices: readonly ListedInvoice[] }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** All invoices of the checkout that are not archived, the oldest first, with their addresses. */
async function find(greenfield: Greenfield, checkout: CheckoutId): Promise<FindResult> {
  const query = `orderId=${encodeURIComponent(checkout)}&includePaymentMethods=true`
  const path = `${invoicesOf(greenfield)}?${query}`
  const request = { method: 'GET', path, maxBytes: maxListBytes } as const
  const response = await ask(greenfield, z.array(listedInvoiceSchema), request)
  if (response.outcome !== 'ok') return unclear(response)
  const ours = response.value.filter(({ metadata }) => metadata.orderId === checkout)
  return { outcome: 'found', invoices: ours.sort(byAge) }
}

function byAge(one: GreenfieldInvoice, other: GreenfieldInvoice): number {
  return one.createdTime - other.createdTime || (one.id < other.id ? -1 : 1)
}

function create(
  { greenfield, expirationMinutes, monitoringMinutes }: InvoiceDeps,
  method: BtcpayMethod,
  { checkout, order, amount, coin }: WantedInvoice,
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
      // Monitoring keeps the address for this invoice, even if late payments are not seen; such addresses are
      // few.
      monitoringMinutes: coinAbilities[coin].isSeenLate
        ? monitoringMinutes
        : Math.min(monitoringMinutes, unseenMinutes),
    },
  }
  return ask(greenfield, invoiceSchema, { method: 'POST', path: invoicesOf(greenfield), body })
}

type OpenResult =
  | { readonly outcome: 'open'; readonly invoice: Invoice }
  | { readonly outcome: 'unknown'; readonly reason: string }

async function shownAs(
  deps: InvoiceDeps,
  wanted: WantedInvoice,
  invoice: GreenfieldInvoice,
): Promise<OpenResult> {
  if (!isAsWanted(invoice, wanted, deps.greenfield.storeId)) {
    return { outcome: 'unknown', reason: 'the invoice at BTCPay asks for something else' }
  }
  const read = await withPayments(deps, wanted.coin, invoice)
  return read.outcome === 'found' ? { outcome: 'open', invoice: read.invoice } : read
}

function isAsWanted(invoice: GreenfieldInvoice, wanted: WantedInvoice, storeId: string): boolean {
  const [whole = '', fraction = ''] = invoice.amount.split('.')
  const atomic = BigInt(whole + fraction.slice(0, 6).padEnd(6, '0'))
  const isExact = atomic === wanted.amount && !/[1-9]/.test(fraction.slice(6))
  return isExact && invoice.currency === 'USD' && invoice.storeId === storeId
}

/**
 * Adds the payments to an invoice. They are read after its status, never before, so that a settled invoice
 * does not lack the payments that settled it. Replaced and double-spent payments are listed too, so that no
 * payment vanishes unnoticed.
 */
async function withPayments(
  { greenfield, now }: InvoiceDeps,
  coin: Coin,
  invoice: GreenfieldInvoice,
): Promise<InvoiceRead> {
  const path = `/invoices/${segment(invoice.id)}/payment-methods?onlyAccountedPayments=false`
  const request = { method: 'GET', path, maxBytes: maxPaymentsBytes } as const
  const response = await ask(greenfield, z.array(paymentMethodSchema), request)
  return response.outcome === 'ok'
    ? invoiceOf(invoice, response.value, coin, now())
    : unclear(response)
}

function invoicesOf({ storeId }: Greenfield): string {
  return `/stores/${segment(storeId)}/invoices`
}

function unclear(response: Exclude<GreenfieldResponse<unknown>, { outcome: 'ok' }>) {
  const reason = response.outcome === 'unknown' ? response.reason : describe(response)
  return { outcome: 'unknown', reason } as const
}

function refused(code: string, reason: string): InvoiceOpened {
  return { outcome: 'refused', code, reason }
}
