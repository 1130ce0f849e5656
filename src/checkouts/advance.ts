import { never } from '../lib/errors.ts'
import type { CheckoutId } from '../lib/ids.ts'
import { advance } from '../orders/advance.ts'
import { foundBy } from '../orders/finding.ts'
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
import { type PaidInvoice, payerOf } from '../payments/payment.ts'
import {
  type Checkout,
  type CheckoutIn,
  claimedUnits,
  type Invoice,
  type InvoicedCheckout,
  isClosed,
  isOver,
  isPaid,
  isUnderWay,
  isVoid,
  isWatched,
  priceIn,
  priceUnits,
  settledUnits,
} from './checkout.ts'
import type { CheckoutStep, CheckoutStepDeps, InvoiceOpened } from './ports.ts'
import { advanceReturns, bookNoted, mergedPayments, shownPayments } from './returns.ts'

/** The caller must hold the lease, which ends with this. */
export function advanceCheckout(deps: CheckoutStepDeps, checkout: Checkout): Promise<Checkout> {
  return carry(checkoutFlow(deps), checkout)
}

export function checkoutSweeper(deps: CheckoutStepDeps, atOnce: number): Sweeper {
  const flow = checkoutFlow(deps)
  return createSweeper({
    claimDue: (limit) => deps.checkouts.claimDue(limit),
    handle: (checkout) => carry(flow, checkout),
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
  const step = isClosed(checkout) ? rest : await stepForState(deps, checkout)
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
function stepForState(deps: CheckoutStepDeps, checkout: Checkout): Promise<CheckoutStep> {
  switch (checkout.state) {
    case 'OPENING':
      return requestInvoice(deps, checkout)
    case 'OPEN':
    case 'ENDED':
      return checkInvoice(deps, checkout)
    case 'ORDERED':
      return checkout.isPlaced ? checkInvoice(deps, checkout) : placeOrder(deps, checkout)
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
async function requestInvoice(
  deps: CheckoutStepDeps,
  checkout: CheckoutIn<'OPENING'>,
): Promise<CheckoutStep> {
  const { processor, now } = deps
  const { startedAt } = checkout
  if (checkout.refusal) return refuse(deps, checkout, checkout.refusal)
  const refusal = whyGivenUp(processor, checkout, now())
  const opened = await openUnsharedInvoice(deps, checkout, refusal !== undefined)
  const changedAt = now()
  switch (opened.outcome) {
    case 'open': {
      const { invoice, hasOthers } = opened
      const openCheckout = { ...checkout, state: 'OPEN', changedAt, invoice, returns: [] } as const
      return moveTo(hasOthers ? { ...openCheckout, hasOthers } : openCheckout)
    }
    case 'refused': {
      const { code, reason } = refusal ?? opened
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
async function openUnsharedInvoice(
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
  const opened = await processor.openInvoice({
    checkout: id,
    order,
    amount,
    coin,
    isTaken,
    onlyFinds,
  })
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

async function checkInvoice(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
): Promise<CheckoutStep> {
  const now = deps.now()
  const { hasOthers, ...alone } = checkout
  // Only once it has its own invoice: before that, another worker may have chosen another one.
  if (hasOthers && (await deps.processor.endOthers(alone.id, alone.invoice.id))) {
    return moveTo(alone)
  }
  const booked = await bookNoted(deps, checkout)
  if (booked) return booked
  const response = await deps.processor.read(checkout.invoice.id, checkout.coin)
  if (response.outcome === 'unknown')
    return (response.isGone ? handleMissing : handleUnread)(deps, checkout, now)
  return follow(deps, checkout, { latest: response.invoice, now })
}

async function follow(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  { latest, now }: { readonly latest: Invoice; readonly now: Date },
): Promise<CheckoutStep> {
  const invoice = mergedWith(deps, checkout, latest)
  const { goneAt, unreadSince, unreadToldAt, ...current } = checkout
  const isBack = (goneAt ?? unreadSince ?? unreadToldAt) !== undefined
  if (isBack || wordingOf(invoice) !== wordingOf(checkout.invoice)) {
    return moveTo(decided({ ...current, invoice }, now))
  }
  const reportStep = reportUnconfirmed(deps, checkout, now)
  if (reportStep) return reportStep
  if (checkout.state === 'OPEN') {
    // An invoice that was over when it was first read moves on too.
    const result = decided(checkout, now)
    return result.state === 'OPEN' ? wait(pollDelay(checkout.startedAt, now)) : moveTo(result)
  }
  return (
    (await advanceReturns(deps, checkout, settledUnits(latest))) ??
    closed(checkout, { latest, now })
  )
}

/** The processor was restored from a backup, or is another one. Nobody watches the address; nothing is concluded. */
function handleMissing(
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
function handleUnread(
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

function reportUnconfirmed(
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

/** In the end, a payment that the processor denies counts only as far as it was spent. */
function closed(
  checkout: CheckoutIn<'ORDERED' | 'ENDED'>,
  { latest, now }: { readonly latest: Invoice; readonly now: Date },
): CheckoutStep {
  const { invoice, returns } = checkout
  const isDenied = settledUnits(latest) < settledUnits(invoice)
  const isBack = returns.every((one) => one.payout.state === 'CONFIRMED' || isVoid(one))
  if (!isBack || !isOver(checkout, now, isDenied)) return wait(watchDelay(checkout, now))
  const over = { ...checkout, closedAt: now }
  if (!isDenied) return moveTo(over)
  const price = { amount: checkout.amount, units: invoice.units }
  const payments = shownPayments(invoice.payments, latest.payments, price, claimedUnits(checkout))
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

/** Anybody can pay part after part, and have the address changed each time. */
const maxAddresses = 50

/** Amount and rate were promised. A payment that was settled once stays: it may have been paid back. */
function mergedWith(
  { reportCheckout }: CheckoutStepDeps,
  { id, amount, invoice: stored }: InvoicedCheckout,
  { payments: latest, units: _, rate: __, ...current }: Invoice,
): Invoice {
  const price = { amount, units: stored.units }
  const { payments, isDenied } = mergedPayments(stored.payments, latest, price)
  if (isDenied) reportCheckout({ name: 'settled_payment_gone', checkout: id })
  const addresses = [...new Set([...stored.addresses, ...current.addresses])].slice(-maxAddresses)
  return { ...stored, ...current, addresses, payments }
}

function wordingOf({ payments, due, address, ...invoice }: Invoice): string {
  const { status, expiresAt, watchedUntil } = invoice
  const lines = payments.map(({ id, status: step, units }) => `${id} ${step} ${units}`).sort()
  return JSON.stringify([status, expiresAt, watchedUntil, address, `${due}`, lines])
}

/** Safe to repeat. No budget refuses the order: the money is here, so it becomes goods or goes back. */
async function placeOrder(
  deps: CheckoutStepDeps,
  checkout: CheckoutIn<'ORDERED'>,
): Promise<CheckoutStep> {
  const order = orderOf(deps, checkout)
  const counted = { subjects: { ...checkout.subjects, payer: order.payment.payer.toLowerCase() } }
  const opened = await deps.orders.open(order, [], { counted, foundBy: foundBy(deps, order.id) })
  if (opened.isNew) await advance(deps, opened.order, 0)
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
