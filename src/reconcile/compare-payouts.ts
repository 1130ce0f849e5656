import {
  type Checkout,
  type InvoicedCheckout,
  isInvoiced,
  namesPayout,
  returnReference,
} from '../checkouts/checkout.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { isRefunding, type Order } from '../orders/order.ts'
import type { Payout, PayoutIn } from '../orders/payout.ts'
import { type Coin, formatUnits } from '../payments/coins.ts'
import { partsOf, same } from '../payments/payment.ts'
import { type About, type DifferenceCode, differs, type Finding, open } from './differences.ts'
import { isFresh } from './judge.ts'
import type { ProcessorPayout } from './ports.ts'
import { type Look, type Notes, note, type Sources } from './sources.ts'

/** Money in a coin that goes back to its buyer, as it is on record. */
export interface Owed {
  readonly reference: string
  readonly order: OrderId
  readonly coin: Coin
  /** Empty once it was erased. */
  readonly to: string
  readonly units: bigint
  readonly stands: 'under_way' | 'failed' | PayoutIn<'CONFIRMED'>
}

/** The payouts that the processor has made or will make, by our references. */
export type PayoutBook = Map<string, ProcessorPayout[]>

/**
 * The payouts at the processor; undefined if there is none, or it does not answer. They are read before the
 * record, so that whatever is paid meanwhile is on record before it could be missed.
 */
export async function readPayoutBook(
  { processor }: Sources,
  notes: Notes,
): Promise<PayoutBook | undefined> {
  if (!processor) return undefined
  const read = await processor.payouts(namesPayout)
  if (read.outcome === 'unknown') {
    notes.silent.push('the payouts of the payment processor')
    return undefined
  }
  return Map.groupBy(read.payouts, ({ reference }) => reference)
}

/** Everything that the buyer of a checkout had to get back: the refund of its order, and its returns. */
export function owedOf(checkout: Checkout, order: Order | undefined): readonly Owed[] {
  const refund = order && refundOwed(order)
  return [...(refund ? [refund] : []), ...(isInvoiced(checkout) ? returnsOwed(checkout) : [])]
}

/** The refund of an order that was paid in a coin; undefined if none was ever due. */
function refundOwed(order: Order): Owed | undefined {
  const { id, tender } = order
  if (tender.rail !== 'btcpay' || !isRefunding(order)) return undefined
  const { coin, address: to } = partsOf(tender.payer)
  const stands = standsOf(order.payout)
  return { reference: id, order: id, coin, to, units: tender.units, stands }
}

/** The returns of a checkout. */
function returnsOwed(checkout: InvoicedCheckout): readonly Owed[] {
  const { id, orderId: order, coin, refundTo: to, returns } = checkout
  return returns.map(({ seq, units, payout }) => {
    return { reference: returnReference(id, seq), order, coin, to, units, stands: standsOf(payout) }
  })
}

function standsOf(payout: Payout | undefined): Owed['stands'] {
  if (payout?.state === 'FAILED') return 'failed'
  return payout?.state === 'CONFIRMED' ? payout : 'under_way'
}

/** Compares what a buyer had to get back with what was paid out, and removes that from the book. */
export async function comparePayouts(
  { hands }: Pick<Sources, 'hands'>,
  book: PayoutBook | undefined,
  owed: readonly Owed[],
  { look, notes }: { readonly look: Look; readonly notes: Notes },
): Promise<void> {
  if (!book) return
  for (const one of owed) {
    const payouts = book.get(one.reference) ?? []
    book.delete(one.reference)
    const noted = await hands.find(one.reference)
    if (noted !== undefined) notes.paidByHand += 1
    for (const finding of judgePayouts(one, payouts, noted, look)) note(notes, finding)
  }
}

function judgePayouts(
  owed: Owed,
  payouts: readonly ProcessorPayout[],
  noted: string | undefined,
  look: Look,
): readonly (Finding | undefined)[] {
  const about = { reference: owed.reference, order: owed.order }
  const wrong = payouts.filter((payout) => !isFor(payout, owed))
  if (wrong.length > 0) {
    return wrong.map((payout) => differs('payout_differs', { ...about, detail: wordsOf(payout) }))
  }
  const sent = paymentsOf(payouts, noted)
  const detail = `It was sent ${sent.length} times: by ${sent.join(' and by ')}.`
  return sent.length > 1
    ? [differs('paid_out_twice', { ...about, detail })]
    : [judgeSent(owed, sent[0], about, look)]
}

function judgeSent(
  { stands }: Owed,
  sent: string | undefined,
  about: About,
  look: Look,
): Finding | undefined {
  if (sent === undefined) return judgeUnsent(stands, about, look)
  if (stands === 'under_way') return open('store', about)
  if (stands === 'failed') {
    return differs('payout_not_booked', { ...about, detail: `It was paid by ${sent}.` })
  }
  if (sent === unnamed || same(sent, stands.transaction)) return undefined
  const detail = `On record is ${stands.transaction}, found ${sent}.`
  return differs('payout_differs', { ...about, detail })
}

function judgeUnsent(stands: Owed['stands'], about: About, look: Look): Finding | undefined {
  if (typeof stands === 'string') return undefined
  return isFresh(stands.confirmedAt, look)
    ? open('store', about)
    : differs('payout_booked_not_found', { ...about, transaction: stands.transaction })
}

/** A payout that the processor calls sent without naming its transaction. */
const unnamed = 'a transaction that the processor does not name'

/**
 * The payments of this debt, each by its transaction. One transaction may make several of them. The transaction
 * that an operator noted is that of a payout that names the same one or none, or else of a further payment.
 */
function paymentsOf(
  payouts: readonly ProcessorPayout[],
  noted: string | undefined,
): readonly string[] {
  const sent = payouts
    .filter(({ isSent }) => isSent)
    .map(({ transaction }) => transaction ?? noted ?? unnamed)
  const isFurther = noted !== undefined && !sent.some((one) => same(one, noted))
  return isFurther ? [...sent, noted] : sent
}

function isFor({ coin, to, units }: ProcessorPayout, owed: Owed): boolean {
  return coin === owed.coin && units === owed.units && (owed.to === '' || same(to, owed.to))
}

function wordsOf({ coin, units, to, isSent }: ProcessorPayout): string {
  const amount = units === undefined ? 'an amount that is none' : formatUnits(units, coin as Coin)
  return `The processor ${isSent ? 'sent' : 'will send'} ${amount} ${coin} to ${to}.`
}

/** Notes what was paid out and is not owed on record. */
export async function compareUnowed(
  { store }: Pick<Sources, 'store'>,
  book: PayoutBook | undefined,
  notes: Notes,
): Promise<void> {
  if (!book) return
  const orders = await store.byIds([...book.keys()].filter(isOrderId))
  const byId = new Map<string, Order>(orders.map((order) => [order.id, order]))
  for (const [reference, payouts] of book) {
    const order = byId.get(reference)
    const detail = payouts.map(wordsOf).join(' ')
    const sent = payouts.find(({ isSent }) => isSent)
    const code = order && sent ? unowedCode(order) : 'payout_unknown'
    note(notes, differs(code, { reference, ...(order && { order: order.id }), detail }))
    if (order && code === 'refund_not_booked' && sent?.transaction !== undefined) {
      const { transaction } = sent
      notes.unbooked.push({ order, refund: { transaction }, payment: undefined })
    }
  }
}

/** The difference that a sent payout is for an order without a refund on record. */
function unowedCode({ state }: Order): DifferenceCode {
  return state === 'FULFILLED' ? 'delivered_and_refunded' : 'refund_not_booked'
}
