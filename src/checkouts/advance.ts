import { never } from '../lib/errors.ts'
import { type CheckoutId, isOrderId } from '../lib/ids.ts'
import { advance } from '../orders/advance.ts'
import { type In, idsFor } from '../orders/order.ts'
import {
  carry,
  createSweeper,
  type Flow,
  moveTo,
  pollDelay,
  rest,
  type Sweeper,
  wait,
} from '../orders/workflow.ts'
import {
  type InvoiceMethod,
  type InvoiceRefund,
  type PaidBack,
  type PaidInvoice,
  partsOf,
  payerOf,
  paymentNotShown,
} from '../payments/payment.ts'
import {
  type Checkout,
  type CheckoutIn,
  claimedUnits,
  type Invoice,
  type InvoicedCheckout,
  isClosed,
  isInvoiced,
  isOver,
  isPaid,
  isUnderWay,
  isVoid,
  isWatched,
  payableUnits,
  priceIn,
  priceUnits,
  settledPayments,
  settledUnits,
} from './checkout.ts'
import type {
  CheckoutReporter,
  CheckoutStep,
  CheckoutStepDeps,
  CheckoutStore,
  HandPayouts,
  InvoiceOpened,
  PayoutRecord,
  Processor,
} from './ports.ts'
import { bookNoted, giveBack, mergedPayments, shownPayments } from './returns.ts'

/** The caller must hold the lease, which ends with this. */
export function advanceCheckout(deps: CheckoutStepDeps, checkout: Checkout): Promise<Checkout> {
  return carry(checkoutFlow(deps), checkout)
}

export function checkoutSweeper(deps: CheckoutStepDeps, atOnce: number): Sweeper {
  const flow = checkoutFlow(deps)
  return createSweeper({
    claimDue: (limit) => deps.checkouts.claimDue(limit),
    work: (checkout) => carry(flow, checkout),
    failed: ({ id: checkout }, error) =>
      deps.reportCheckout({ name: 'checkout_step_failed', checkout, error }),
    atOnce,
  })
}

function checkoutFlow(deps: CheckoutStepDeps): Flow<Checkout> {
  const { checkouts: store, now, stopping } = deps
  return { store, now, stopping, next: (checkout) => stepOf(deps, checkout) }
}

async function stepOf(deps: CheckoutStepDeps, checkout: Checkout): Promise<CheckoutStep> {
  const step = isClosed(checkout) ? rest : await next(deps, checkout)
  return 'to' in step ? { ...step, to: withoutSubjects(step.to) } : step
}

/** Forgets whose budgets the order counts against, once the order is on record or can never be opened. */
function withoutSubjects(checkout: Checkout): Checkout {
  const { subjects: _, ...rest } = checkout
  switch (checkout.state) {
    case 'OPENING':
    case 'OPEN':
      return checkout
    case 'ORDERED':
      return checkout.isPlaced ? rest : checkout
    default:
      return rest
  }
}

/** The whole life of a checkout in one switch. */
function next(deps: CheckoutStepDeps, checkout: Checkout): Promise<CheckoutStep> {
  switch (checkout.state) {
    case 'OPENING':
      return ask(deps, checkout)
    case 'OPEN':
    case 'ENDED':
      return look(deps, checkout)
    case 'ORDERED':
      return checkout.isPlaced ? look(deps, checkout) : place(deps, checkout)
    case 'REFUSED':
      throw new Error('a checkout that was refused is closed')
    default:
      return never(checkout)
  }
}

/** The longest time between two looks at an invoice whose payments wait for their confirmations. */
const watchEveryMs = 120_000
/** The same for an invoice of which nothing is expected. There are many of them, for days. */
const quietEveryMs = 3_600_000
/** After this long without an invoice, nobody waits for the processor any more. */
const openWithinMs = 600_000

/**
 * Makes or finds the invoice. After a while it only finds one: a restored database may have forgotten one that was
 * paid.
 */
async function ask(deps: CheckoutStepDeps, checkout: CheckoutIn<'OPENING'>): Promise<CheckoutStep> {
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

const searchEveryMs = 250

/** An invoice is not used if another checkout has its address: the money of one buyer would pay for another. */
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

/** Its refusal is on record, so nobody can be shown an invoice any more. After a while they are left to expire. */
async function refuse(
  { processor, now }: CheckoutStepDeps,
  { refusal: _, ...checkout }: CheckoutIn<'OPENING'>,
  { code, reason }: NonNullable<CheckoutIn<'OPENING'>['refusal']>,
): Promise<CheckoutStep> {
  const isEnded = await processor.endOthers(checkout.id, undefined)
  if (!isEnded && !isLate(checkout, now())) return wait(pollDelay(checkout.startedAt, now()))
  return moveTo({ ...checkout, state: 'REFUSED', changedAt: now(), code, reason })
}

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

async function look(deps: CheckoutStepDeps, checkout: InvoicedCheckout): Promise<CheckoutStep> {
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

/** The processor was restored from a backup, or is another one. Nobody watches the address; nothing is concluded. */
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

/** No answer, or one that is contradictory. Nothing is concluded, and the operator is told once. */
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

/** Decides once whether the order gets the price. A settled invoice that shows too little money decides nothing. */
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

/** In the end, a payment that the processor denies counts only as far as it was spent. */
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

/** The longer nothing has arrived, the less likely something will. A webhook makes the checkout due earlier. */
function watchDelay({ changedAt, invoice }: InvoicedCheckout, now: Date): number {
  const isExpected = invoice.payments.some(({ status }) => status === 'PROCESSING')
  return everRarer(now.getTime() - changedAt.getTime(), isExpected ? watchEveryMs : quietEveryMs)
}

function everRarer(ageMs: number, maxMs: number): number {
  return Math.min(maxMs, Math.max(1_000, ageMs / 4))
}

/** Address, amount and rate were promised. A payment that was settled once stays: it may have been paid back. */
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

function wordingOf({ status, payments, expiresAt, watchedUntil }: Invoice): string {
  const told = payments.map(({ id, status: step, units }) => `${id} ${step} ${units}`).sort()
  return JSON.stringify([status, expiresAt, watchedUntil, told])
}

/** Safe to repeat. No budget refuses the order: the money is here, so it becomes goods or goes back. */
async function place(
  deps: CheckoutStepDeps,
  checkout: CheckoutIn<'ORDERED'>,
): Promise<CheckoutStep> {
  const order = orderOf(deps, checkout)
  const counted = { subjects: { ...checkout.subjects, payer: order.payment.payer.toLowerCase() } }
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

function orderOf(deps: CheckoutStepDeps, checkout: CheckoutIn<'ORDERED'>): In<'PAYMENT_PENDING'> {
  const { orderId: id, item, recipient, fingerprint, accessTokenHash, amount } = checkout
  const payment = paymentOf(checkout)
  const now = deps.now()
  return {
    state: 'PAYMENT_PENDING',
    id,
    paymentId: idsFor(deps.digest, payment).paymentId,
    version: 1,
    item,
    recipient,
    fingerprint,
    accessTokenHash,
    payment,
    amount,
    placedAt: now,
    changedAt: now,
  }
}

function paymentOf(checkout: CheckoutIn<'ORDERED'>): PaidInvoice {
  const { id, coin, network, refundTo, amount, invoice } = checkout
  return {
    method: 'btcpay',
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

export interface InvoiceMethodDeps {
  readonly processor: Pick<Processor, 'read' | 'payOut'>
  readonly hands: HandPayouts
  readonly checkouts: Pick<CheckoutStore, 'findByOrder'>
  readonly watch: PayoutWatch
}

/** The processor has waited for the confirmations that the operator wants, so what it calls settled is final. */
export function invoiceMethod(deps: InvoiceMethodDeps): InvoiceMethod {
  const { processor, watch } = deps
  return {
    async collect({ invoice, asset, units }) {
      const read = await processor.read(invoice, asset)
      if (read.outcome === 'unknown') return read
      const last = settledPayments(read.invoice).at(-1)
      if (last === undefined || settledUnits(read.invoice) < units) {
        return { outcome: 'unknown', reason: 'The processor does not show the payment any more.' }
      }
      return { outcome: 'settled', receipt: { method: 'btcpay', transaction: last.transaction } }
    },

    confirmationOf: async () => 'final',

    signRefund: async ({ reference, payment: { payer: to, amount, units, invoice, network } }) => {
      return { method: 'btcpay', invoice, network, to, amount, reference, units }
    },

    payBack: async (refund) => watch(refund.reference, await paidBack(deps, refund)),
  }
}

/**
 * What an operator has paid by hand is paid. Otherwise the invoice is read first: money that the processor does not
 * show may never have been ours, and one that does not know the invoice does not know what was sent for it either.
 */
async function paidBack(deps: InvoiceMethodDeps, refund: InvoiceRefund): Promise<PaidBack> {
  const { processor, hands } = deps
  const { to, reference, units, network, invoice } = refund
  const transaction = await hands.find(reference)
  if (transaction !== undefined) return { outcome: 'paid', transaction }
  const { coin, address } = partsOf(to)
  const read = await processor.read(invoice, coin)
  if (read.outcome === 'unknown') return { outcome: 'pending', reason: read.reason }
  if (settledUnits(read.invoice) < (await neededUnits(deps, refund))) {
    const reason = 'The processor does not show the money any more that would go back.'
    return { outcome: 'blocked', code: paymentNotShown, reason }
  }
  return processor.payOut({ reference, coin, network, to: address, units })
}

/** Refunds come on top of returns; a return is compared with the rest before it gets here (`giveBack`). */
async function neededUnits(
  { checkouts }: InvoiceMethodDeps,
  { reference, units }: InvoiceRefund,
): Promise<bigint> {
  const checkout = isOrderId(reference) ? await checkouts.findByOrder(reference) : undefined
  return checkout && isInvoiced(checkout) ? payableUnits(checkout) : units
}

/** After this long, the operator must find out why a payout is not sent and confirmed. */
const sentWithinMs = 3 * 3_600_000

export type PayoutWatch = (reference: string, paid: PaidBack) => Promise<PaidBack>

/** A payout may wait for reasons that are not reported: nobody approves it, or the wallet is empty. */
export function payoutWatch(
  record: Pick<PayoutRecord, 'waits' | 'rests'>,
  report: CheckoutReporter,
): PayoutWatch {
  return async (reference, paid) => {
    if (paid.outcome !== 'pending') await record.rests(reference)
    else if (await record.waits(reference, sentWithinMs)) {
      report({ name: 'payout_waits', payout: reference, reason: paid.reason })
    }
    return paid
  }
}
