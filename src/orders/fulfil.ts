import type { Charge, Recipient } from '../catalog/offer.ts'
import { never } from '../lib/errors.ts'
import { blockOf, type Collected, methodOf } from '../payments/payment.ts'
import type { Held, Placed } from '../suppliers/supplier.ts'
import {
  acceptedOrder,
  type Failure,
  type In,
  type Next,
  type Order,
  type PaidOrder,
  paymentWatchMs,
  supplierReferenceOf,
  withAcceptance,
} from './order.ts'
import type { Step, StepDeps } from './ports.ts'
import { intend, learn, leaseMs, moveTo, pollDelay, rest, wait } from './workflow.ts'

/** Sent this soon after it is on record, or not at all: a worker that was paused must not send what was given up. */
const placeLeavesWithinMs = 15_000

/** How long the supplier is asked again for a purchase that it does not show; milliseconds. */
const placeWithinMs = 60_000

/** A purchase not shown this long after the last request counts as never received; milliseconds. */
export const supplierSettlesMs = leaseMs + 30_000

export function lookUp({ suppliers }: StepDeps, { id, item }: Order): Promise<Held> {
  return suppliers.at(item.source).lookup(item.kind, supplierReferenceOf(id))
}

/** A payment that was seen more recently is not checked again before the purchase; milliseconds. */
const freshMs = 5_000

/** Puts on record that the supplier will be asked, then asks. A payment seen a while ago is checked again first. */
export async function beginFulfilment(
  deps: StepDeps,
  order: In<'PAID'>,
): Promise<Step<Next<'PAID'>>> {
  const now = deps.now()
  if (now.getTime() - order.paidAt.getTime() > freshMs) {
    const confirmation = await methodOf(deps.methods, order.payment).confirmationOf(
      order.payment,
      order.receipt,
    )
    if (confirmation === 'gone') return moveTo(unpaid(deps, order))
  }
  const fulfilling: In<'FULFILLING'> = {
    ...order,
    state: 'FULFILLING',
    changedAt: now,
    askedAt: now,
  }
  return intend(fulfilling, (saved) => placePurchase(deps, saved))
}

export async function fulfil(
  deps: StepDeps,
  order: In<'FULFILLING'>,
): Promise<Step<Next<'FULFILLING'>>> {
  const assured = isToBeWatched(order, deps.now()) ? await assure(deps, order) : order
  if (assured.settlement === 'LOST') return moveTo(withoutPayment(deps, assured))
  return recordCheck(order, assured, (saved) => checkPurchase(deps, saved))
}

/** The buyer keeps delivered goods. All that is left is to watch that the payment stays on the chain. */
export async function watchPayment(
  deps: StepDeps,
  order: In<'FULFILLED'>,
): Promise<Step<In<'FULFILLED'>>> {
  if (order.settlement !== 'SEEN') return rest
  const assured = isToBeWatched(order, deps.now()) ? await assure(deps, order) : order
  return recordCheck(order, assured, () => wait(paymentWatchMs))
}

/** Acts on what the supplier shows. A purchase that it once accepted is never asked for again, even if not shown. */
async function checkPurchase(
  deps: StepDeps,
  order: In<'FULFILLING'>,
  looking = lookUp(deps, order),
): Promise<Step<Next<'FULFILLING'>>> {
  const supplierRecord = await looking
  switch (supplierRecord.outcome) {
    case 'delivered':
      return moveTo(delivered(deps, withAcceptance(order, deps.now()), supplierRecord))
    case 'done':
      return onceAccepted(deps, order, async (saved) => waitOrDeliver(deps, saved, supplierRecord))
    case 'declined':
      return moveTo(failed(deps, withAcceptance(order, deps.now()), declinedBy(supplierRecord)))
    case 'pending':
      return onceAccepted(deps, order, async (saved) => waitOrExpire(deps, saved))
    case 'none':
      return order.acceptedAt ? waitOrExpire(deps, order) : repeatOrFail(deps, order)
    case 'unknown':
      return waitOrExpire(deps, order)
    default:
      return never(supplierRecord)
  }
}

async function onceAccepted(
  deps: StepDeps,
  order: In<'FULFILLING'>,
  goOn: (saved: In<'FULFILLING'>) => Promise<Step<Next<'FULFILLING'>>>,
): Promise<Step<Next<'FULFILLING'>>> {
  deps.accepted.add(order.id)
  return recordAcceptance(deps, order, goOn) ?? goOn(order)
}

/** Records an acceptance that this process heard and could not record yet, perhaps because the database was down. */
export function recordAcceptance<T extends Order>(
  { accepted, now }: StepDeps,
  order: T,
  goOn: (saved: T) => Promise<Step>,
): Step<T> | undefined {
  const at = now()
  const to = accepted.has(order.id) ? acceptedOrder(order, at) : undefined
  if (to) return learn(to, (stored) => acceptedOrder(stored, at), goOn)
  accepted.delete(order.id)
  return undefined
}

/** Asks the supplier for the purchase. Past its deadline the price goes back, so nothing is bought any more. */
async function placePurchase(
  deps: StepDeps,
  order: In<'FULFILLING'>,
): Promise<Step<Next<'FULFILLING'>>> {
  if (deps.now() >= order.deliverBy) return checkPurchase(deps, order)
  const { kind, source, value } = order.item
  const { askedAt, askedAgainAt = askedAt } = order
  const leavesBy = askedAgainAt.getTime() + placeLeavesWithinMs
  const placement = await deps.suppliers.at(source).place({
    reference: supplierReferenceOf(order.id),
    kind,
    product: source.product,
    recipient: recipientOf(deps, order),
    isRepeat: order.askedAgainAt !== undefined,
    ...(value === undefined ? {} : { value }),
    notAfter: new Date(Math.min(leavesBy, order.deliverBy.getTime())),
  })
  switch (placement.outcome) {
    case 'held': {
      // A lookup changes nothing at the supplier, so it need not wait for the write.
      const looking = lookUp(deps, order)
      void looking.catch(() => undefined)
      return onceAccepted(deps, order, (saved) => checkPurchase(deps, saved, looking))
    }
    case 'declined':
      // A repeat may be refused because the supplier took the first request. Then the lookups decide.
      return order.askedAgainAt
        ? waitOrExpire(deps, order)
        : moveTo(failed(deps, order, declinedBy(placement)))
    case 'unknown':
      return waitOrExpire(deps, order)
    default:
      return never(placement)
  }
}

/** Early on, the same reference is sent again. Once no request can be on its way any more, the money goes back. */
function repeatOrFail(deps: StepDeps, order: In<'FULFILLING'>): Step<Next<'FULFILLING'>> {
  const now = deps.now()
  const triedForMs = now.getTime() - order.askedAt.getTime()
  const mayAskAgain = triedForMs < placeWithinMs && now < order.deliverBy
  if (mayAskAgain) {
    return intend({ ...order, askedAgainAt: now }, (saved) => placePurchase(deps, saved))
  }
  if (triedForMs < placeWithinMs + supplierSettlesMs) {
    return waitOrExpire(deps, order)
  }
  const message = 'The supplier could not be reached in time and shows no purchase.'
  const failure = { trigger: 'upstream_timeout', message } as const
  return moveTo({ ...failed(deps, order, failure), supply: { state: 'OPEN' } })
}

/** Waits until the deadline. Then the order expires, and its buyer gets no goods that come later. */
function waitOrExpire(deps: StepDeps, order: In<'FULFILLING'>): Step<Next<'FULFILLING'>> {
  const now = deps.now()
  if (now < order.deliverBy) {
    const leftMs = order.deliverBy.getTime() - now.getTime()
    return wait(Math.min(pollDelay(order.askedAt, now), leftMs))
  }
  const message = 'The order was not delivered within its deadline.'
  return moveTo({
    ...order,
    state: 'EXPIRED',
    changedAt: now,
    failure: { trigger: 'expired', message },
    refundAt: new Date(now.getTime() + deps.policy.refundGraceMs),
    supply: { state: 'OPEN' },
  })
}

/** There are goods, and they are not paid back. What the record lacks may still be written until the deadline. */
function waitOrDeliver(
  deps: StepDeps,
  order: In<'FULFILLING'>,
  { delivery, charge }: Extract<Held, { outcome: 'done' }>,
): Step<Next<'FULFILLING'>> {
  if (!delivery || deps.now() < order.deliverBy) return waitOrExpire(deps, order)
  return moveTo(delivered(deps, order, { delivery, ...(charge ? { charge } : {}) }))
}

function delivered(
  deps: StepDeps,
  order: In<'FULFILLING'>,
  supplierRecord: Omit<Extract<Held, { outcome: 'delivered' }>, 'outcome'>,
): In<'FULFILLED'> {
  const now = deps.now()
  const { charge } = supplierRecord
  const listed = order.item.charge
  if (charge && listed && isMore(charge, listed)) {
    deps.report({ name: 'charge_rose', order: order.id, listed, charged: charge })
  }
  const delivery = deps.vault.seal(supplierRecord.delivery, { order: order.id, field: 'delivery' })
  const iccid =
    'iccid' in supplierRecord.delivery
      ? { iccidDigest: deps.digest.of(supplierRecord.delivery.iccid) }
      : {}
  const deliveryFields = { delivery, deliveredAt: now, ...iccid, ...(charge ? { charge } : {}) }
  return { ...order, state: 'FULFILLED', changedAt: now, ...deliveryFields }
}

/** Whether the supplier charged more than it listed, or in another currency. */
function isMore(charged: Charge, listed: Charge): boolean {
  if (charged.currency !== listed.currency) return true
  return charged.amount * listed.divisor > listed.amount * charged.divisor
}

function failed(
  deps: StepDeps,
  order: In<'FULFILLING'>,
  failure: Failure,
): In<'FULFILLMENT_FAILED'> {
  return {
    ...order,
    state: 'FULFILLMENT_FAILED',
    changedAt: deps.now(),
    failure,
    payout: { state: 'DUE' },
    supply: { state: 'NONE' },
  }
}

function unpaid(deps: StepDeps, order: In<'PAID'>): In<'PAYMENT_PENDING'> {
  deps.report({ name: 'payment_vanished', order: order.id })
  const { receipt: _, settlement: __, paidAt: ___, deliverBy: ____, ...ordered } = order
  return { ...ordered, state: 'PAYMENT_PENDING', changedAt: deps.now() }
}

/** Nobody is owed goods or money for a payment that is proven to be gone. */
function withoutPayment(deps: StepDeps, order: In<'FULFILLING'>): In<'FULFILLMENT_FAILED'> {
  const message = 'The payment vanished from the chain and cannot come any more.'
  const failure = { trigger: 'fulfillment_failed', message } as const
  return { ...failed(deps, order, failure), settlement: 'LOST', supply: { state: 'OPEN' } }
}

function declinedBy({ code, reason }: Extract<Placed | Held, { outcome: 'declined' }>): Failure {
  return { trigger: 'fulfillment_failed', code, message: reason }
}

function recipientOf(deps: StepDeps, order: Order): Recipient {
  if (order.recipient === undefined)
    throw new Error(`The recipient of ${order.id} was erased early`)
  return deps.vault.open(order.recipient, { order: order.id, field: 'recipient' }) as Recipient
}

/**
 * A smart wallet can pass every estimate and revert in every block, at our expense. Others may still submit the
 * payment.
 */
const maxReverts = 3

/** The longest time between two checks of a payment that the store no longer sends; milliseconds. */
const rarestLookMs = 60_000

/** While it is unknown whether the money moved, asking for another payment would make an honest buyer pay twice. */
export async function collect(
  deps: StepDeps,
  order: In<'PAYMENT_PENDING'>,
): Promise<Step<Next<'PAYMENT_PENDING'>>> {
  const listing = deps.listingOf?.(order.item.kind)
  const how = { listing, onlyLooks: isSentEnough(order) }
  const collected = await methodOf(deps.methods, order.payment).collect(order.payment, how)
  const now = deps.now()
  switch (collected.outcome) {
    case 'settled': {
      const { receipt } = collected
      const deliverBy = new Date(now.getTime() + deps.policy.deliverWithinMs)
      return moveTo({
        ...order,
        state: 'PAID',
        changedAt: now,
        receipt,
        settlement: 'SEEN',
        paidAt: now,
        deliverBy,
      })
    }
    case 'failed': {
      const { code, reason } = collected
      const counted = withReverts(order, collected)
      return moveTo({ ...counted, state: 'PAYMENT_FAILED', changedAt: now, code, reason })
    }
    case 'unknown': {
      const counted = withReverts(order, collected)
      const pause = wait(pauseBefore(counted, now))
      return counted === order ? pause : intend(counted, async () => pause)
    }
    default:
      return never(collected)
  }
}

function isSentEnough({ reverts = 0 }: Order): boolean {
  return reverts >= maxReverts
}

/** Reverts are put on record, because they count in the budgets of the payer. */
function withReverts<T extends Order>(
  order: T,
  { wasted = 0 }: Exclude<Collected, { outcome: 'settled' }>,
): T {
  return wasted > 0 ? { ...order, reverts: (order.reverts ?? 0) + wasted } : order
}

/** Once the store would not send it again, only others can submit it, and each check costs calls to the chain. */
function pauseBefore(order: In<'PAYMENT_PENDING'>, now: Date): number {
  const { payment } = order
  const isOver = payment.method === 'x402' && now.getTime() >= payment.validBefore * 1_000
  return isOver || isSentEnough(order)
    ? pollDelay(order.placedAt, now, rarestLookMs)
    : pollDelay(order.placedAt, now)
}

function isToBeWatched({ settlement, paidAt }: PaidOrder, now: Date): boolean {
  return settlement === 'SEEN' && now.getTime() - paidAt.getTime() >= paymentWatchMs
}

/** A payment that the chain dropped is sent again. Returns the same order while nothing is new. */
export async function assure<T extends PaidOrder>(deps: StepDeps, order: T): Promise<T> {
  const { payment, receipt } = order
  const confirmation = await methodOf(deps.methods, payment).confirmationOf(payment, receipt)
  switch (confirmation) {
    case 'final':
      return { ...order, settlement: 'FINAL' }
    case 'gone':
      return collectAgain(deps, order)
    case 'not_yet':
    case 'unknown':
      return order
    default:
      return never(confirmation)
  }
}

/** An order about whose payment nothing is new, except for reverts, goes on. */
export async function recordCheck<T extends PaidOrder, To extends Order>(
  order: T,
  assured: T,
  goOn: (saved: T) => Step<To> | Promise<Step<To>>,
): Promise<Step<T | To>> {
  if (assured === order) return goOn(order)
  const isNew = assured.settlement !== order.settlement || assured.receipt !== order.receipt
  return isNew ? moveTo(assured) : intend(assured, async (saved) => goOn(saved))
}

async function collectAgain<T extends PaidOrder>(deps: StepDeps, order: T): Promise<T> {
  const { id, payment, receipt } = order
  deps.report({ name: 'payment_vanished', order: id })
  const how = { onlyLooks: isSentEnough(order) }
  const collected = await methodOf(deps.methods, payment).collect(payment, how)
  switch (collected.outcome) {
    case 'settled': {
      const again = collected.receipt
      const isSame =
        again.transaction === receipt.transaction && blockOf(again) === blockOf(receipt)
      // The payment is where it was. The two answers contradict each other, so nothing new is known.
      return isSame ? order : { ...order, settlement: 'SEEN', receipt: again }
    }
    case 'failed':
      deps.report({ name: 'payment_lost', order: id, reason: collected.code })
      return { ...withReverts(order, collected), settlement: 'LOST' }
    case 'unknown':
      return withReverts(order, collected)
    default:
      return never(collected)
  }
}
