import {
  type Checkout,
  type CheckoutIn,
  type InvoicedCheckout,
  isClosed,
  isInvoiced,
  namesPayout,
  returnReference,
  settledUnits,
} from '../checkouts/checkout.ts'
import { isCheckoutId, isOrderId, type OrderId } from '../lib/ids.ts'
import { goodwillReferenceOf, unitsOf } from '../orders/goodwill.ts'
import { isRefunding, type Order } from '../orders/order.ts'
import type { Payout } from '../orders/payout.ts'
import type { Goodwill } from '../orders/ports.ts'
import { type Coin, formatUnits } from '../payments/coins.ts'
import { partsOf, payerOf, same } from '../payments/payment.ts'
import { type About, type DifferenceCode, differs, type Finding, openItem } from './differences.ts'
import { isFresh } from './judge.ts'
import type { ProcessorPayout } from './ports.ts'
import { type Look, type Notes, note, ordersOf, type Sources } from './sources.ts'

interface Progress {
  readonly invoices: Set<string>
  silent: number
  silentInARow: number
}

export async function compareCheckouts(sources: Sources, look: Look, notes: Notes): Promise<void> {
  const { store, checkouts } = sources
  const book = await readPayoutBook(sources, notes)
  const progress: Progress = { invoices: new Set(), silent: 0, silentInARow: 0 }
  const given = new Map((await store.goodwill()).map((one) => [one.id, one]))
  for await (const page of checkouts.all()) {
    notes.checkouts += page.length
    const orders = await ordersOf(
      store,
      page.map(({ orderId }) => orderId),
    )
    for (const checkout of page) {
      const order = orders.get(checkout.orderId)
      compareOrder(checkout, order, look, notes)
      await compareInvoice(sources, checkout, progress, notes)
      const owed = [...owedOf(checkout, order), ...giftOf(checkout, given.get(checkout.orderId))]
      await comparePayouts(sources, book, owed, { look, notes })
    }
  }
  for (const order of await checkouts.strayOrders()) {
    note(notes, differs('order_without_checkout', { order }))
  }
  await compareCoins(sources, notes)
  await compareUnowed(sources, book, notes)
  await compareUnknown(sources, progress.invoices, look, notes)
  if (progress.silent > 0) notes.silent.push(`${progress.silent} invoices of the payment processor`)
  if (notes.checkouts > 0) notes.notChecked.push(...notCheckedOf(sources, notes))
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
  if (order && !isItsOrder(checkout, order)) {
    const detail = bothInWords(checkout, order)
    note(notes, differs('checkout_order_differs', { ...about, detail }))
  }
  if (order) return
  const isUnderWay = !checkout.isPlaced && isFresh(checkout.changedAt, look)
  note(notes, isUnderWay ? openItem('store', about) : differs('checkout_without_order', about))
}

function isItsOrder(checkout: CheckoutIn<'ORDERED'>, { payment, amount }: Order): boolean {
  return (
    payment.method === 'btcpay' &&
    amount === checkout.amount &&
    payment.units === checkout.price &&
    payment.invoice === checkout.invoice.id &&
    same(payment.payer, payerOf(checkout.coin, checkout.refundTo))
  )
}

function bothInWords({ price, coin, invoice }: CheckoutIn<'ORDERED'>, { payment }: Order): string {
  const orderText =
    payment.method === 'btcpay'
      ? `${formatUnits(payment.units, payment.asset)} ${payment.asset}, invoice ${payment.invoice}`
      : 'an authorization of USDC'
  return `The checkout has ${formatUnits(price, coin)} ${coin}, invoice ${invoice.id}; the order ${orderText}.`
}

const maxSilent = 10

async function compareInvoice(
  { processor }: Sources,
  checkout: Checkout,
  progress: Progress,
  notes: Notes,
): Promise<void> {
  if (!isInvoiced(checkout)) return
  const { invoice, coin } = checkout
  progress.invoices.add(invoice.id)
  if (!processor) return
  const response =
    progress.silentInARow < maxSilent
      ? await processor.read(invoice.id, coin)
      : { outcome: 'unknown' }
  if (response.outcome === 'found' || ('isGone' in response && response.isGone)) {
    progress.silentInARow = 0
    noteInvoice(checkout, 'invoice' in response ? settledUnits(response.invoice) : 0n, notes)
  } else {
    progress.silent += 1
    progress.silentInARow += 1
  }
}

function noteInvoice(checkout: InvoicedCheckout, settled: bigint, notes: Notes): void {
  const booked = settledUnits(checkout.invoice)
  if (settled === booked) return
  const { coin, invoice } = checkout
  const about = {
    reference: checkout.id,
    detail:
      `Invoice ${invoice.id}: on record ${formatUnits(booked, coin)} ${coin}, ` +
      `found ${formatUnits(settled, coin)} ${coin}.`,
  }
  if (settled < booked) note(notes, differs('coins_booked_not_found', about))
  else if (isClosed(checkout)) note(notes, differs('coins_not_booked', about))
  else note(notes, openItem('store', about))
}

/** A checkout is on record before its invoice is made, but may have been opened after its page was read. */
async function compareUnknown(
  { processor }: Sources,
  recordedInvoices: ReadonlySet<string>,
  look: Look,
  notes: Notes,
): Promise<void> {
  if (!processor) return
  const response = await processor.paidInvoices(isCheckoutId)
  if (response.outcome === 'unknown') {
    notes.silent.push('the list of paid invoices of the payment processor')
    return
  }
  for (const { id, checkout, order, madeAt } of response.invoices) {
    if (recordedInvoices.has(id) || isFresh(madeAt, look)) continue
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

interface Owed {
  readonly reference: string
  readonly order: OrderId
  readonly coin: Coin
  /** Empty once it was erased. */
  readonly to: string
  readonly units: bigint
  readonly payout: Payout | undefined
}

interface PayoutBook {
  readonly payouts: Map<string, ProcessorPayout[]>
  readonly hidden: ReadonlySet<string>
}

/** Read before the record, so that whatever is paid meanwhile is on record before it could be missed. */
async function readPayoutBook(
  { processor }: Sources,
  notes: Notes,
): Promise<PayoutBook | undefined> {
  if (!processor) return undefined
  const response = await processor.payouts(namesPayout)
  if (response.outcome === 'unknown') {
    notes.silent.push('the payouts of the payment processor')
    return undefined
  }
  const hidden = new Set(response.hidden)
  if (hidden.size > 0) {
    notes.notChecked.push(
      `${hidden.size} payouts whose pull payments are archived: BTCPay shows them only under Reporting, Payouts`,
    )
  }
  return { payouts: Map.groupBy(response.payouts, ({ reference }) => reference), hidden }
}

function owedOf(checkout: Checkout, order: Order | undefined): readonly Owed[] {
  const owed: Owed[] = []
  if (order?.payment.method === 'btcpay' && isRefunding(order)) {
    const { id, payment, payout } = order
    const { coin, address: to } = partsOf(payment.payer)
    owed.push({ reference: id, order: id, coin, to, units: order.payment.units, payout })
  }
  if (!isInvoiced(checkout)) return owed
  const { id, orderId, coin, refundTo: to, returns } = checkout
  for (const { seq, units, payout } of returns) {
    owed.push({ reference: returnReference(id, seq), order: orderId, coin, to, units, payout })
  }
  return owed
}

function giftOf({ coin, refundTo: to }: Checkout, goodwill: Goodwill | undefined): readonly Owed[] {
  if (!goodwill) return []
  const { id: order, payout } = goodwill
  const reference = goodwillReferenceOf(order)
  return [{ reference, order, coin, to, units: unitsOf(goodwill), payout }]
}

async function comparePayouts(
  { hands }: Pick<Sources, 'hands'>,
  book: PayoutBook | undefined,
  owed: readonly Owed[],
  { look, notes }: { readonly look: Look; readonly notes: Notes },
): Promise<void> {
  if (!book) return
  for (const one of owed) {
    const payouts = book.payouts.get(one.reference) ?? []
    book.payouts.delete(one.reference)
    const notedTransaction = await hands.find(one.reference)
    if (notedTransaction !== undefined) notes.paidByHand += 1
    if (payouts.length === 0 && book.hidden.has(one.reference)) continue
    for (const finding of judgePayouts(one, payouts, notedTransaction, look)) note(notes, finding)
  }
}

function judgePayouts(
  owed: Owed,
  payouts: readonly ProcessorPayout[],
  notedTransaction: string | undefined,
  look: Look,
): readonly (Finding | undefined)[] {
  const about = { reference: owed.reference, order: owed.order }
  const wrong = payouts.filter((payout) => !isFor(payout, owed))
  if (wrong.length > 0) {
    return wrong.map((payout) =>
      differs('payout_differs', { ...about, detail: describePayout(payout) }),
    )
  }
  const sent = paymentsOf(payouts, notedTransaction)
  const detail = `It was sent ${sent.length} times: by ${sent.join(' and by ')}.`
  return sent.length > 1
    ? [differs('paid_out_twice', { ...about, detail })]
    : [judgeSent(owed, sent[0], about, look)]
}

function judgeSent(
  { payout }: Owed,
  sent: string | undefined,
  about: About,
  look: Look,
): Finding | undefined {
  if (payout?.state !== 'CONFIRMED') {
    if (sent === undefined) return undefined
    return payout?.state === 'FAILED'
      ? differs('payout_not_booked', { ...about, detail: `It was paid by ${sent}.` })
      : openItem('store', about)
  }
  const { transaction, confirmedAt } = payout
  if (sent === undefined) {
    return isFresh(confirmedAt, look)
      ? openItem('store', about)
      : differs('payout_booked_not_found', { ...about, transaction })
  }
  if (sent === unnamed || same(sent, transaction)) return undefined
  const detail = `On record is ${transaction}, found ${sent}.`
  return differs('payout_differs', { ...about, detail })
}

const unnamed = 'a transaction that the processor does not name'

/**
 * Each by its transaction, which may make several of them. The one that an operator noted is that of a payout that
 * names the same one or none, or else of a further payment.
 */
function paymentsOf(
  payouts: readonly ProcessorPayout[],
  notedTransaction: string | undefined,
): readonly string[] {
  const sent = payouts
    .filter(({ isSent }) => isSent)
    .map(({ transaction }) => transaction ?? notedTransaction ?? unnamed)
  const isFurther =
    notedTransaction !== undefined && !sent.some((one) => same(one, notedTransaction))
  return isFurther ? [...sent, notedTransaction] : sent
}

function isFor({ coin, to, units }: ProcessorPayout, owed: Owed): boolean {
  return coin === owed.coin && units === owed.units && (owed.to === '' || same(to, owed.to))
}

function describePayout({ coin, units, to, isSent }: ProcessorPayout): string {
  const amount = units === undefined ? 'an amount that is none' : formatUnits(units, coin as Coin)
  return `The processor ${isSent ? 'sent' : 'will send'} ${amount} ${coin} to ${to}.`
}

async function compareUnowed(
  { store }: Pick<Sources, 'store'>,
  book: PayoutBook | undefined,
  notes: Notes,
): Promise<void> {
  if (!book) return
  const orders = await ordersOf(store, [...book.payouts.keys()].filter(isOrderId))
  for (const [reference, payouts] of book.payouts) {
    const order = orders.get(reference)
    const detail = payouts.map(describePayout).join(' ')
    const sent = payouts.find(({ isSent }) => isSent)
    const code = order && sent ? unowedCode(order) : 'payout_unknown'
    note(notes, differs(code, { reference, ...(order && { order: order.id }), detail }))
    if (order && code === 'refund_not_booked' && sent?.transaction !== undefined) {
      const { transaction } = sent
      notes.unbooked.push({ order, refund: { transaction }, payment: undefined })
    }
  }
}

function unowedCode({ state }: Order): DifferenceCode {
  return state === 'FULFILLED' ? 'delivered_and_refunded' : 'refund_not_booked'
}
