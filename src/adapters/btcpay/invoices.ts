import { z } from 'zod'
import type { InvoiceOpened, InvoiceRead, WantedInvoice } from '../../checkouts/ports.ts'
import { type Coin, coinAbilities } from '../../payments/coins.ts'
import { formatUsdc } from '../../primitives/money.ts'
import { ask, type Greenfield, type Heard, isKeyRefused, saidOf, segment } from './greenfield.ts'
import { invoiceOf } from './invoice.ts'
import type { BtcpayMethod } from './methods.ts'
import { anything, type GreenfieldInvoice, invoiceSchema, paymentMethodSchema } from './schemas.ts'

export interface InvoiceDeps {
  readonly greenfield: Greenfield
  readonly methods: readonly BtcpayMethod[]
  /** For how long the rate stands, and the price can be paid. */
  readonly expirationMinutes: number
  /** For how long after that BTCPay looks for money that comes late or twice. */
  readonly monitoringMinutes: number
  readonly now: () => Date
}

/** A checkout's invoices are few; this is room for hundreds. */
const listMostBytes = 2 * 1024 * 1024
/** For how long an address is kept to its invoice that BTCPay does not watch after its time. */
const unseenMinutes = 24 * 60
/** Anybody can send any number of payments; this is room for some 40,000 of them. */
const paymentsMostBytes = 8 * 1024 * 1024

/**
 * Makes the invoice of a checkout, or finds the one that was made before: each carries the checkout
 * as its `orderId`, which BTCPay can be asked for.
 *
 * A lost answer may leave an invoice that lands only after we looked, so a second one can come to be.
 * That costs nobody anything: nobody was shown its address, and it expires. Whoever looks takes the
 * oldest, so that all take the same.
 */
export async function openInvoice(
  deps: InvoiceDeps,
  wanted: WantedInvoice,
): Promise<InvoiceOpened> {
  const method = deps.methods.find(({ coin }) => coin === wanted.coin)
  if (method === undefined)
    return refused('coin_unavailable', `This store takes no ${wanted.coin}.`)
  // BTCPay has dollars in whole cents: it would round the rest away.
  if (wanted.amount % 10_000n !== 0n) return refused('invalid_amount', 'The price is not in cents.')

  const before = await known(deps, wanted)
  if (before !== undefined) return before
  const made = await create(deps, method, wanted)
  if (made.outcome === 'ok') return shownAs(deps, wanted, made.value)
  // Whatever the answer was, an invoice that is there now is the invoice.
  const after = await known(deps, wanted)
  if (after !== undefined) return after
  if (made.outcome === 'unknown') return made
  if (isKeyRefused(made) || made.status === 404) return { outcome: 'unknown', reason: saidOf(made) }
  return refused(
    'processor_refused',
    `The payment processor makes no invoice in ${wanted.coin} now.`,
  )
}

/**
 * What BTCPay says of the invoice now. It has one payment method, which is read by its coin: an operator
 * may have taken the coin off since, or another network for it, and what was asked for is still owed.
 */
export async function readInvoice(deps: InvoiceDeps, id: string, coin: Coin): Promise<InvoiceRead> {
  const path = `/invoices/${segment(id)}`
  const heard = await ask(deps.greenfield, invoiceSchema, { method: 'GET', path })
  if (heard.outcome !== 'ok') {
    return (await isGone(deps, id, heard)) ? gone : unclear(heard)
  }
  // A key may open several stores, and the id was not ours to choose.
  if (heard.value.storeId !== deps.greenfield.storeId) {
    return { outcome: 'unknown', reason: 'the invoice belongs to another store of BTCPay' }
  }
  return withPayments(deps, coin, heard.value)
}

const gone: InvoiceRead = {
  outcome: 'unknown',
  reason: 'BTCPay does not know the invoice any more',
  isGone: true,
}

/**
 * Whether BTCPay has lost the invoice. It finds the store of a call by the invoice, and so answers 403
 * to one that it does not know, as to a key that may not see it. The list of the store tells which.
 */
async function isGone(
  { greenfield }: InvoiceDeps,
  id: string,
  heard: Exclude<Heard<unknown>, { outcome: 'ok' }>,
): Promise<boolean> {
  if (heard.outcome === 'unknown' || (heard.status !== 403 && heard.status !== 404)) return false
  const path = `${invoicesOf(greenfield)}?textSearch=${segment(id)}&includeArchived=true`
  const request = { method: 'GET', path, maxBytes: listMostBytes } as const
  const listed = await ask(greenfield, z.array(invoiceSchema), request)
  return listed.outcome === 'ok' && listed.value.every((one) => one.id !== id)
}

/** The oldest invoice that has no address of another checkout; undefined where there is none. */
async function known(deps: InvoiceDeps, wanted: WantedInvoice): Promise<InvoiceOpened | undefined> {
  const found = await find(deps, wanted)
  if (found.outcome === 'unknown') return found
  for (const invoice of found.invoices) {
    const shown = await shownAs(deps, wanted, invoice)
    const isPassedOver =
      shown.outcome === 'open' && wanted.besides?.includes(shown.invoice.address) === true
    if (!isPassedOver) return shown
  }
  return undefined
}

type Found =
  | { readonly outcome: 'found'; readonly invoices: readonly GreenfieldInvoice[] }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** All of them, the oldest first. */
async function find({ greenfield }: InvoiceDeps, wanted: WantedInvoice): Promise<Found> {
  const path = `${invoicesOf(greenfield)}?orderId=${encodeURIComponent(wanted.checkout)}`
  const request = { method: 'GET', path, maxBytes: listMostBytes } as const
  const heard = await ask(greenfield, z.array(invoiceSchema), request)
  if (heard.outcome !== 'ok') return unclear(heard)
  const ours = heard.value.filter(({ metadata }) => metadata.orderId === wanted.checkout)
  const invoices = ours.sort(byAge)
  if (!wanted.besides?.length) await archive(greenfield, invoices.slice(1))
  return { outcome: 'found', invoices }
}

function byAge(one: GreenfieldInvoice, other: GreenfieldInvoice): number {
  return one.createdTime - other.createdTime || (one.id < other.id ? -1 : 1)
}

/**
 * Takes surplus invoices out of the operator's sight. They are not called invalid: a store that held
 * its breath may show one of them to a buyer by now, and an archived invoice can still be paid. What
 * comes of it does not matter here, only tidiness is lost.
 */
async function archive(greenfield: Greenfield, invoices: readonly GreenfieldInvoice[]) {
  for (const { id } of invoices) {
    await ask(greenfield, anything, { method: 'DELETE', path: `/invoices/${segment(id)}` })
  }
}

function create(
  { greenfield, expirationMinutes, monitoringMinutes }: InvoiceDeps,
  method: BtcpayMethod,
  { checkout, order, amount, coin }: WantedInvoice,
): Promise<Heard<GreenfieldInvoice>> {
  const body = {
    amount: formatUsdc(amount),
    currency: 'USD',
    // BTCPay finds invoices by `orderId`. The order is for people who have lost their record of both.
    metadata: { orderId: checkout, storeOrder: order },
    checkout: {
      paymentMethods: [method.id],
      // Otherwise there is an address only when somebody opens BTCPay's own page.
      lazyPaymentMethods: false,
      expirationMinutes,
      // The address is this checkout's for as long, though nobody looks at it; there are few of them.
      monitoringMinutes: coinAbilities[coin].isSeenLate
        ? monitoringMinutes
        : Math.min(monitoringMinutes, unseenMinutes),
    },
  }
  return ask(greenfield, invoiceSchema, { method: 'POST', path: invoicesOf(greenfield), body })
}

async function shownAs(
  deps: InvoiceDeps,
  wanted: WantedInvoice,
  invoice: GreenfieldInvoice,
): Promise<InvoiceOpened> {
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
 * The status was read before the payments are, and never after: an invoice that is called settled
 * shall not be shown without the money that settled it. Replaced and doubly spent payments are
 * listed too, so that a payment does not vanish without a word.
 */
async function withPayments(
  { greenfield, now }: InvoiceDeps,
  coin: Coin,
  invoice: GreenfieldInvoice,
): Promise<InvoiceRead> {
  const path = `/invoices/${segment(invoice.id)}/payment-methods?onlyAccountedPayments=false`
  const request = { method: 'GET', path, maxBytes: paymentsMostBytes } as const
  const heard = await ask(greenfield, z.array(paymentMethodSchema), request)
  return heard.outcome === 'ok' ? invoiceOf(invoice, heard.value, coin, now()) : unclear(heard)
}

function invoicesOf({ storeId }: Greenfield): string {
  return `/stores/${segment(storeId)}/invoices`
}

function unclear(heard: Exclude<Heard<unknown>, { outcome: 'ok' }>) {
  const reason = heard.outcome === 'unknown' ? heard.reason : saidOf(heard)
  return { outcome: 'unknown', reason } as const
}

function refused(code: string, reason: string): InvoiceOpened {
  return { outcome: 'refused', code, reason }
}
