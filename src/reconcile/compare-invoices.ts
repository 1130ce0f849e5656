import {
  type Checkout,
  type CheckoutIn,
  type InvoicedCheckout,
  isClosed,
  isInvoiced,
  settledUnits,
} from '../checkouts/checkout.ts'
import { isCheckoutId, isOrderId, type OrderId } from '../lib/ids.ts'
import type { Order } from '../orders/order.ts'
import { formatUnits } from '../payments/coins.ts'
import { payerOf, same } from '../payments/payment.ts'
import {
  comparePayouts,
  compareUnowed,
  type Owed,
  owedOf,
  type PayoutBook,
  readPayoutBook,
} from './compare-payouts.ts'
import { differs, open } from './differences.ts'
import { isFresh } from './judge.ts'
import { type Look, type Notes, note, type Sources } from './sources.ts'

/** What was seen of the checkouts so far. */
interface Replay {
  readonly book: PayoutBook | undefined
  /** The invoices on record. */
  readonly invoices: Set<string>
  /** How many the processor did not answer, and how many in a row. */
  untold: number
  untoldInARow: number
}

/**
 * Compares every checkout with its order and with its invoice at the processor, every order of an invoice with
 * its checkout, every paid invoice and every payout with what is on record, and the ledger of the coins with
 * the checkouts.
 */
export async function compareCheckouts(sources: Sources, look: Look, notes: Notes): Promise<void> {
  const replay: Replay = {
    book: await readPayoutBook(sources, notes),
    invoices: new Set(),
    untold: 0,
    untoldInARow: 0,
  }
  for await (const page of sources.checkouts.all()) {
    notes.checkouts += page.length
    const orders = await sources.store.byIds(page.map(({ orderId }) => orderId))
    const byId = new Map(orders.map((order) => [order.id, order]))
    for (const checkout of page) {
      const order = byId.get(checkout.orderId)
      compareOrder(checkout, order, look, notes)
      await compareOutside(sources, owedOf(checkout, order), checkout, { replay, look, notes })
    }
  }
  for (const id of await sources.checkouts.strayOrders()) noteStray(id, notes)
  await compareCoins(sources, notes)
  await compareUnowed(sources, replay.book, notes)
  await compareUnknown(sources, replay.invoices, look, notes)
  if (replay.untold > 0) notes.silent.push(`${replay.untold} invoices of the payment processor`)
  if (notes.checkouts > 0) notes.notChecked.push(...notCheckedOf(sources, notes))
}

/** Compares a checkout with its invoice and its payouts at the processor. */
async function compareOutside(
  sources: Sources,
  owed: readonly Owed[],
  checkout: Checkout,
  { replay, look, notes }: { readonly replay: Replay; readonly look: Look; readonly notes: Notes },
): Promise<void> {
  if (isInvoiced(checkout)) replay.invoices.add(checkout.invoice.id)
  if (!(await isInvoiceTold(sources, checkout, replay, notes))) replay.untold += 1
  await comparePayouts(sources, replay.book, owed, { look, notes })
}

function compareOrder(
  checkout: Checkout,
  order: Order | undefined,
  look: Look,
  notes: Notes,
): void {
  // An order of a checkout that is not decided is found among the orders.
  if (checkout.state !== 'ORDERED') return
  const about = { reference: checkout.id, order: checkout.orderId }
  if (order) {
    if (isItsOrder(checkout, order)) return
    note(notes, differs('checkout_order_differs', { ...about, detail: wordsOf(checkout, order) }))
    return
  }
  const isUnderWay = !checkout.isPlaced && isFresh(checkout.changedAt, look)
  note(notes, isUnderWay ? open('store', about) : differs('checkout_without_order', about))
}

function isItsOrder(checkout: CheckoutIn<'ORDERED'>, { tender, amount }: Order): boolean {
  if (tender.rail !== 'btcpay') return false
  return (
    amount === checkout.amount &&
    tender.units === checkout.price &&
    tender.invoice === checkout.invoice.id &&
    same(tender.payer, payerOf(checkout.coin, checkout.refundTo))
  )
}

function wordsOf({ price, coin, invoice }: CheckoutIn<'ORDERED'>, { tender }: Order): string {
  const ordered =
    tender.rail === 'btcpay'
      ? `${formatUnits(tender.units, tender.asset)} ${tender.asset}, invoice ${tender.invoice}`
      : 'an authorization of USDC'
  return `The checkout has ${formatUnits(price, coin)} ${coin}, invoice ${invoice.id}; the order ${ordered}.`
}

function noteStray(order: OrderId, notes: Notes): void {
  note(notes, differs('order_without_checkout', { order }))
}

/** After so many unanswered questions in a row, the processor is not asked any more. */
const maxUntold = 10

/** Compares the invoice. False if the processor did not answer. */
async function isInvoiceTold(
  { processor }: Sources,
  checkout: Checkout,
  replay: Replay,
  notes: Notes,
): Promise<boolean> {
  if (!processor || !isInvoiced(checkout)) return true
  if (replay.untoldInARow >= maxUntold) return false
  const { invoice, coin } = checkout
  const read = await processor.read(invoice.id, coin)
  const isTold = read.outcome === 'found' || read.isGone === true
  replay.untoldInARow = isTold ? 0 : replay.untoldInARow + 1
  if (isTold)
    noteInvoice(checkout, read.outcome === 'found' ? settledUnits(read.invoice) : 0n, notes)
  return isTold
}

function noteInvoice(checkout: InvoicedCheckout, found: bigint, notes: Notes): void {
  const booked = settledUnits(checkout.invoice)
  if (found === booked) return
  const { coin, invoice } = checkout
  const about = {
    reference: checkout.id,
    detail:
      `Invoice ${invoice.id}: on record ${formatUnits(booked, coin)} ${coin}, ` +
      `found ${formatUnits(found, coin)} ${coin}.`,
  }
  if (found < booked) note(notes, differs('coins_booked_not_found', about))
  else if (isClosed(checkout)) note(notes, differs('coins_not_booked', about))
  else note(notes, open('store', about))
}

/**
 * Finds paid invoices that no checkout has, whose records were lost. A checkout is on record before its invoice
 * is made, but may have been opened after its page was read.
 */
async function compareUnknown(
  { processor }: Sources,
  known: ReadonlySet<string>,
  look: Look,
  notes: Notes,
): Promise<void> {
  if (!processor) return
  const read = await processor.paidInvoices(isCheckoutId)
  if (read.outcome === 'unknown') {
    notes.silent.push('the list of paid invoices of the payment processor')
    return
  }
  for (const { id, checkout, order, madeAt } of read.invoices) {
    if (known.has(id) || isFresh(madeAt, look)) continue
    const detail = `Invoice ${id}, order ${order ?? 'not named'}.`
    const named = order !== undefined && isOrderId(order) ? { order } : {}
    note(notes, differs('invoice_unknown', { ...named, reference: checkout, detail }))
  }
}

async function compareCoins({ checkouts }: Sources, notes: Notes): Promise<void> {
  for (const { checkout, coin, account, booked, due } of await checkouts.misbooked()) {
    const detail =
      `The account is ${account}: on record ${formatUnits(booked, coin)} ${coin}, ` +
      `found ${formatUnits(due, coin)} ${coin}.`
    note(notes, differs('checkout_ledger_differs', { reference: checkout, detail }))
  }
}

function notCheckedOf({ processor }: Sources, { paidByHand }: Notes): readonly string[] {
  return [
    ...(processor ? [] : ['invoices and payouts at the payment processor: none is configured']),
    ...(paidByHand > 0
      ? [`${paidByHand} payouts that operators noted: only the chains of the coins have them`]
      : []),
  ]
}
