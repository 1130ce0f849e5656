import type { CheckoutId } from '../lib/ids.ts'
import { never } from '../lib/never.ts'
import { advance } from '../orders/advance.ts'
import { type In, idsFor } from '../orders/order.ts'
import { moveTo, pollDelay, wait } from '../orders/workflow.ts'
import { type PaidInvoice, payerOf } from '../payments/payment.ts'
import {
  type CheckoutIn,
  type Invoice,
  type InvoicedCheckout,
  isOver,
  isPaid,
  isUnderWay,
  isVoid,
  isWatched,
  priceIn,
  priceUnits,
  settledUnits,
} from './checkout.ts'
import { claimedUnits } from './ledger.ts'
import type { CheckoutStep, CheckoutStepDeps, InvoiceOpened } from './ports.ts'
import { bookNoted, giveBack, mergedPayments, shownPayments } from './returns.ts'

/** The longest time between two looks at an invoice whose payments wait for their confirmations. */
const watchEveryMs = 120_000
/** The same for an invoice of which nothing is expected. There are many of them, for days. */
const quietEveryMs = 3_600_000
/** After this long without an invoice, nobody waits for the processor any more. */
const openWithinMs = 600_000

/**
 * Has the processor make the invoice, or find the one that it made before. After a while none is made any
 * more, because the price is that of the form, and the checkout is given up once the processor says that it
 * has none: a restored database may have forgotten an invoice that was shown and paid.
 */
export async function ask(
  deps: CheckoutStepDeps,
  checkout: CheckoutIn<'OPENING'>,
): Promise<CheckoutStep> {
  const { processor, now } = deps
  const { startedAt } = checkout
  if (checkout.refusal) return refuse(deps, checkout, checkout.refusal)
  const givenUp = whyGivenUp(processor, checkout, now())
  const opened = await openUnshared(deps, checkout, givenUp !== undefined)
  const changedAt = now()
  switch (opened.outcome) {
    case 'open': {
      const { invoice, hasOthers } = opened
      const open = { ...checkout, state: 'OPEN', changedAt, invoice, returns: [] } as const
      return moveTo(hasOthers ? { ...open, hasOthers } : open)
    }
    case 'refused': {
      const { code, reason } = givenUp ?? opened
      return moveTo({ ...checkout, refusal: { code, reason } })
    }
    case 'searching':
      return wait(searchEveryMs)
    case 'unknown':
      return wait(pollDelay(startedAt, changedAt))
    default:
      return never(opened)
  }
}

/** How soon the search for a free address goes on. */
const searchEveryMs = 250

/**
 * An invoice is not used if another checkout has its address: the money of one buyer would pay for another.
 * The processor goes on to the next address until it has none left.
 */
async function openUnshared(
  { processor, checkouts, reportCheckout }: CheckoutStepDeps,
  { id, orderId: order, amount, coin }: CheckoutIn<'OPENING'>,
  onlyFinds: boolean,
): Promise<InvoiceOpened> {
  let holder: CheckoutId | undefined
  const isTaken = async (address: string): Promise<boolean> => {
    const one = await checkouts.holderOf(coin, address)
    holder = one?.id ?? holder
    return one !== undefined
  }
  const opened = await processor.open({ checkout: id, order, amount, coin, isTaken, onlyFinds })
  if (opened.outcome === 'refused' && holder !== undefined) {
    reportCheckout({ name: 'address_taken', checkout: id, coin, holder })
  }
  return opened
}

/**
 * Ends all invoices of a checkout. Its refusal is on record, so nobody can be shown one of them any more. After a
 * while they are left to expire.
 */
async function refuse(
  { processor, now }: CheckoutStepDeps,
  { refusal: _, ...checkout }: CheckoutIn<'OPENING'>,
  { code, reason }: NonNullable<CheckoutIn<'OPENING'>['refusal']>,
): Promise<CheckoutStep> {
  const isEnded = await processor.endOthers(checkout.id, undefined)
  if (!isEnded && !isLate(checkout, now())) return wait(pollDelay(checkout.startedAt, now()))
  return moveTo({ ...checkout, state: 'REFUSED', changedAt: now(), code, reason })
}

/** Why no invoice is made for the checkout any more; undefined while one may be. */
function whyGivenUp(
  { methods }: Pick<CheckoutStepDeps['processor'], 'methods'>,
  checkout: CheckoutIn<'OPENING'>,
  at: Date,
): CheckoutIn<'OPENING'>['refusal'] {
  const { coin, network } = checkout
  // The operator may have changed it since. On another network the buyer would lose everything.
  if (!methods.some((method) => method.coin === coin && method.network === network)) {
    return { code: 'coin_unavailable', reason: `${coin} on ${network} is not taken.` }
  }
  if (!isLate(checkout, at)) return undefined
  return { code: 'processor_silent', reason: 'The payment processor made no invoice in time.' }
}

function isLate({ startedAt }: CheckoutIn<'OPENING'>, at: Date): boolean {
  return at.getTime() - startedAt.getTime() > openWithinMs
}

/** Reads the invoice again, and does what follows from it. */
export async function look(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
): Promise<CheckoutStep> {
  const now = deps.now()
  if (await hasEndedOthers(deps, checkout)) {
    const { hasOthers: _, ...alone } = checkout
    return moveTo(alone)
  }
  const booked = await bookNoted(deps, checkout)
  if (booked) return booked
  const read = await deps.processor.read(checkout.invoice.id, checkout.coin)
  if (read.outcome === 'unknown') return (read.isGone ? missed : unread)(deps, checkout, now)
  return follow(deps, checkout, { read: read.invoice, now })
}

/** What follows from an invoice that was read. */
async function follow(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  { read, now }: { readonly read: Invoice; readonly now: Date },
): Promise<CheckoutStep> {
  const invoice = mergedWith(deps, checkout, read)
  const { goneAt, unreadSince, unreadToldAt, ...known } = checkout
  const isBack = (goneAt ?? unreadSince ?? unreadToldAt) !== undefined
  if (isBack || !isSame(invoice, checkout.invoice)) {
    return moveTo(decided({ ...known, invoice }, now))
  }
  const told = toldOfWaiting(deps, checkout, now)
  if (told) return told
  if (checkout.state === 'OPEN') return stillOpen(checkout, now)
  return (await giveBack(deps, checkout, settledUnits(read))) ?? closed(checkout, { read, now })
}

/** Only once the checkout has its own invoice: before that, another worker may have chosen another one. */
async function hasEndedOthers(
  { processor }: CheckoutStepDeps,
  { hasOthers, id, invoice }: InvoicedCheckout,
): Promise<boolean> {
  return hasOthers === true && (await processor.endOthers(id, invoice.id))
}

/**
 * The processor does not know the invoice any more: it was restored from a backup, or it is another one.
 * Nobody watches the address, and nothing is concluded. The checkout stays as it is, the operator is told
 * once, and it goes on when the invoice is there again.
 */
function missed(
  { reportCheckout }: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  now: Date,
): CheckoutStep {
  const { id, goneAt } = checkout
  if (goneAt !== undefined) return wait(everRarer(now.getTime() - goneAt.getTime(), quietEveryMs))
  reportCheckout({ name: 'invoice_gone', checkout: id })
  return moveTo({ ...checkout, goneAt: now })
}

/** After this long, the operator must find out why an invoice cannot be read. */
const maxUnreadMs = 3_600_000
/** Often enough that several looks have failed by then. */
const unreadEveryMs = 600_000

/**
 * The processor does not answer, or its answer is not understood, as one with a contradictory status or
 * an invalid amount. Nothing is concluded, and the operator is told once.
 */
function unread(
  { reportCheckout }: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  now: Date,
): CheckoutStep {
  const { id, unreadSince, unreadToldAt } = checkout
  if (unreadSince === undefined) return moveTo({ ...checkout, unreadSince: now })
  const isLong = now.getTime() - unreadSince.getTime() > maxUnreadMs
  if (!isLong || unreadToldAt !== undefined) {
    return wait(Math.min(unreadEveryMs, againIn(checkout, now)))
  }
  reportCheckout({ name: 'invoice_unread', checkout: id })
  return moveTo({ ...checkout, unreadToldAt: now })
}

/** After this long without confirmations, the operator must find out why. */
const confirmedWithinMs = 24 * 3_600_000

/** Tells the operator, once, of a payment that has waited too long for its confirmations. */
function toldOfWaiting(
  { reportCheckout }: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  now: Date,
): CheckoutStep | undefined {
  const isLate = checkout.invoice.payments.some(
    ({ status, receivedAt }) =>
      status === 'PROCESSING' && now.getTime() - receivedAt.getTime() > confirmedWithinMs,
  )
  if (!isLate || checkout.toldAt !== undefined) return undefined
  reportCheckout({ name: 'payment_unconfirmed', checkout: checkout.id })
  return moveTo({ ...checkout, toldAt: now })
}

/**
 * Decides whether the order gets the price: if it was paid in full and in time. It is decided once, here. An
 * invoice that is called settled and shows too little settled money decides nothing.
 */
function decided(checkout: InvoicedCheckout, now: Date): InvoicedCheckout {
  if (checkout.state !== 'OPEN') return checkout
  const { invoice } = checkout
  const ended = { ...checkout, state: 'ENDED', changedAt: now } as const
  switch (invoice.status) {
    case 'SETTLED': {
      if (!isPaid(invoice)) return isWatched(invoice, now) ? checkout : ended
      const price = priceIn(invoice)
      return { ...checkout, state: 'ORDERED', changedAt: now, price, isPlaced: false }
    }
    case 'EXPIRED':
    case 'INVALID':
      return ended
    case 'NEW':
    case 'PROCESSING':
      return checkout
    default:
      return never(invoice.status)
  }
}

/** An invoice that was over when it was first read moves on too. */
function stillOpen(checkout: CheckoutIn<'OPEN'>, now: Date): CheckoutStep {
  const next = decided(checkout, now)
  return next.state === 'OPEN' ? wait(pollDelay(checkout.startedAt, now)) : moveTo(next)
}

/**
 * Closes a checkout that nothing can happen to any more. Until then its invoice is read now and then. In the end, a
 * payment that the processor denies counts only as far as it was spent.
 */
function closed(
  checkout: CheckoutIn<'ORDERED' | 'ENDED'>,
  { read, now }: { readonly read: Invoice; readonly now: Date },
): CheckoutStep {
  const { invoice, returns } = checkout
  const isDenied = settledUnits(read) < settledUnits(invoice)
  const isBack = returns.every((one) => one.payout.state === 'CONFIRMED' || isVoid(one))
  if (!isBack || !isOver(checkout, now, isDenied)) return wait(watchDelay(checkout, now))
  const over = { ...checkout, closedAt: now }
  if (!isDenied) return moveTo(over)
  const price = { amount: checkout.amount, units: invoice.units }
  const payments = shownPayments(invoice.payments, read.payments, price, claimedUnits(checkout))
  return moveTo({ ...over, invoice: { ...invoice, payments } })
}

/** How long to wait for a processor that did not answer: not long if somebody waits for money. */
function againIn(checkout: InvoicedCheckout, now: Date): number {
  const isAwaited = checkout.state === 'OPEN' || checkout.returns.some(isUnderWay)
  return isAwaited ? pollDelay(checkout.changedAt, now) : watchDelay(checkout, now)
}

/**
 * The longer nothing has arrived, the less likely something will. A webhook makes the checkout due earlier.
 */
function watchDelay({ changedAt, invoice }: InvoicedCheckout, now: Date): number {
  const isExpected = invoice.payments.some(({ status }) => status === 'PROCESSING')
  return everRarer(now.getTime() - changedAt.getTime(), isExpected ? watchEveryMs : quietEveryMs)
}

function everRarer(ageMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(1_000, ageMs / 4))
}

/**
 * Merges what was read with what is on record. Address, amount and rate were promised and stay. A payment
 * that was settled once has been counted, and may have been paid back, so it stays too; the operator is told
 * if the processor denies it.
 */
function mergedWith(
  { reportCheckout }: CheckoutStepDeps,
  { id, amount, invoice: known }: InvoicedCheckout,
  { status, payments: read, expiresAt, watchedUntil }: Invoice,
): Invoice {
  const price = { amount, units: known.units }
  const { payments, isDenied } = mergedPayments(known.payments, read, price)
  if (isDenied) reportCheckout({ name: 'settled_payment_gone', checkout: id })
  return { ...known, status, expiresAt, watchedUntil, payments }
}

function isSame(one: Invoice, other: Invoice): boolean {
  return wordingOf(one) === wordingOf(other)
}

/** Everything of an invoice that can change, as one text. */
function wordingOf({ status, payments, expiresAt, watchedUntil }: Invoice): string {
  const told = payments.map(({ id, status: step, units }) => `${id} ${step} ${units}`).sort()
  return JSON.stringify([status, expiresAt, watchedUntil, told])
}

/**
 * Opens the order of a paid checkout. Safe to repeat: one checkout pays one order. The order counts in the
 * budgets, but none refuses it: the money is here, so it becomes goods or goes back.
 */
export async function place(
  deps: CheckoutStepDeps,
  checkout: CheckoutIn<'ORDERED'>,
): Promise<CheckoutStep> {
  const order = orderOf(deps, checkout)
  const counted = { subjects: { ...checkout.subjects, payer: order.tender.payer.toLowerCase() } }
  const opened = await deps.orders.open(order, [], { counted })
  if (opened.isNew) {
    try {
      await advance(deps, opened.order, 0)
    } catch (error) {
      // It is on record and the sweep goes on with it.
      deps.report({ name: 'step_failed', order: opened.order.id, error })
    }
  }
  return moveTo({ ...checkout, isPlaced: true })
}

/** The order that was named when the checkout began, paid by its invoice. */
function orderOf(deps: CheckoutStepDeps, checkout: CheckoutIn<'ORDERED'>): In<'PAYMENT_PENDING'> {
  const { orderId: id, item, recipient, fingerprint, accessTokenHash, amount } = checkout
  const tender = tenderOf(checkout)
  const now = deps.now()
  return {
    state: 'PAYMENT_PENDING',
    id,
    paymentId: idsFor(deps.digest, tender).paymentId,
    version: 1,
    item,
    recipient,
    fingerprint,
    accessTokenHash,
    tender,
    amount,
    placedAt: now,
    changedAt: now,
  }
}

function tenderOf(checkout: CheckoutIn<'ORDERED'>): PaidInvoice {
  const { id, coin, network, refundTo, amount, invoice } = checkout
  return {
    rail: 'btcpay',
    network,
    asset: coin,
    payTo: invoice.address,
    payer: payerOf(coin, refundTo),
    amount,
    nonce: id,
    invoice: invoice.id,
    units: priceUnits(checkout),
  }
}
