import type { Offer } from '../catalog/offer.ts'
import { type LineItem, wordingsOf } from '../catalog/purchase-body.ts'
import type { Health } from '../health/health.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import { never } from '../lib/never.ts'
import { type Charged, Refusal, refusalWith, whileUnpaid } from '../lib/refusal.ts'
import type { within } from '../lib/within.ts'
import { accept, hasEnded } from '../payments/acceptance.ts'
import type { X402Payment } from '../payments/payment.ts'
import type { Accepts } from '../payments/terms.ts'
import type { PaymentPayload } from '../payments/x402.ts'
import { hashOf, newAccessToken } from '../secrets/tokens.ts'
import { type AdvanceDeps, advance } from './advance.ts'
import { type ApprovalDeps, requireApproval } from './approval.ts'
import {
  type BudgetRules,
  budgetSpent,
  requireBudgets,
  type Subjects,
  subjectsOf,
} from './budgets.ts'
import { requireNotDenied } from './denylist.ts'
import { notChecked, notNow, orTryAgain, requireSold, sell } from './not-now.ts'
import { type In, idsFor, type Order, supplierReferenceOf } from './order.ts'
import { BudgetSpent } from './ports.ts'
import { acceptsFor, foreignEsim, itemOf, type PriceDeps, type Priced, price } from './price.ts'
import { earlierOrder, isPaidBy, type PurchaseRequest, patienceOf, replay } from './replay.ts'
import {
  chargedFor,
  isConsidered,
  type Money,
  moneyOf,
  type ReservingDeps,
  reserve,
} from './reserve.ts'
import { beforeLimits, type CheckDeps, openWithin } from './spending-limits/check.ts'
import { lesser } from './spending-limits/rules.ts'
import { newWebhookSecret, type WebhookTarget } from './webhooks/message.ts'
import type { WebhookState } from './webhooks/ports.ts'

export interface PurchaseDeps
  extends AdvanceDeps,
    PriceDeps,
    CheckDeps,
    ReservingDeps,
    ApprovalDeps {
  /** Limits the wait for a call that hangs; without it, an answer waits for the call to end. */
  readonly within?: typeof within
  readonly budgets: BudgetRules
  readonly health: Pick<Health, 'unsold' | 'sell' | 'noteOpened' | 'unsell' | 'means'>
}

/** The webhook of an order that was just opened. */
export interface OpenedWebhook {
  /** Signs its events. Shown once. */
  readonly secret: string
  readonly state: WebhookState
}

export type PurchaseAnswer =
  | {
      readonly type: 'payment_required'
      readonly accepts: Accepts
      readonly offer: Offer
      readonly lineItem: LineItem
      /** Why the payment in the request was not taken. */
      readonly fault?: { readonly code: string; readonly reason: string }
    }
  | {
      readonly type: 'order'
      readonly order: Order
      /** Only in the answer to the request that opened the order. */
      readonly accessToken?: string
      /** Only in that answer, too. */
      readonly webhook?: OpenedWebhook | undefined
      readonly replayed: boolean
      /** False for a caller who shows only the payment, which is public: they may see the state, not the goods. */
      readonly reveal: boolean
    }

/**
 * Buys an offer; without a payment, names its price. A refusal of a request with a payment says in `charged` whether
 * its money moved, and a demand is made only when it has not.
 *
 * @param failed an order under the same key whose own payment has failed
 */
export async function purchase(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  failed?: OrderId,
): Promise<PurchaseAnswer> {
  // If the same request was sent twice, the other one may take the payment meanwhile.
  const charged = request.payment ? 'unknown' : 'no'
  const begun = await orTryAgain(deps.report, charged, () => begin(deps, request))
  switch (begun.type) {
    case 'payment_required':
      return begun
    case 'earlier':
      return again(deps, request, begun.order, failed)
    case 'opened':
      return carryOut(deps, request, begun)
    default:
      return never(begun)
  }
}

type Demand = Extract<PurchaseAnswer, { type: 'payment_required' }>
type Earlier = { readonly type: 'earlier'; readonly order: Order }
type Begun = Demand | Earlier | Opened

interface Opened {
  readonly type: 'opened'
  readonly order: In<'PAYMENT_PENDING'>
  readonly accessToken: string
  readonly webhook: OpenedWebhook | undefined
}

/**
 * Finds the order that this payment has opened already, or opens it. Before a payment is turned down
 * its order is looked for once more: the same request may have come twice, and the other one may
 * have taken the payment since, or be about to. That buyer must be told of the order, or that nothing
 * is known yet, and must not sign another payment.
 */
async function begin(deps: PurchaseDeps, request: PurchaseRequest): Promise<Begun> {
  const { payment } = request
  if (payment === undefined) return paymentRequired(deps, priceNow(deps, request))
  const earlier = async (): Promise<Earlier | undefined> => {
    const order = await earlierOrder(deps, request, payment)
    return order && { type: 'earlier', order }
  }
  const first = await earlier()
  if (first) return first
  const progress: Progress = { money: 'unseen', mark: null }
  const taken = await take(deps, request, payment, progress).catch(refusalIn)
  if (!(taken instanceof Refusal) && taken.type !== 'payment_required') return taken
  const askedAt = deps.now()
  const known = await chargedFor(deps, request, payment, progress.money)
  const ended = progress.money === 'unmoved' ? progress.mark : null
  const mayBeTaken = known.charged === 'no' && (await isConsidered(deps, payment, ended))
  const late = await earlier()
  if (late) return late
  const isOld = deps.now().getTime() - askedAt.getTime() > knownForMs
  const isUnsure = known.charged === 'no' && (mayBeTaken || isOld)
  return turnedDown(taken, isUnsure ? { charged: 'unknown' } : known)
}

/** How long the finding that nothing was paid holds; milliseconds. A process that was paused for longer cannot know. */
const knownForMs = 10_000

/** @throws Refusal instead of a demand where the payment may have moved money */
function turnedDown(
  taken: Refusal | Demand,
  known: { readonly charged: Charged; readonly provesNothing?: true },
): Demand {
  if (known.charged === 'no') {
    if (!(taken instanceof Refusal)) return taken
    throw refusalWith(taken, { charged: taken.details.charged ?? 'no' })
  }
  if (taken instanceof Refusal) throw refusalWith(taken, known)
  throw refusalWith(notNow('It is not known yet what became of this payment.', 'unknown'), known)
}

function refusalIn(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

/** What is known of a payment so far. */
interface Progress {
  money: Money
  /** Tells this request from equal ones; null until the payment is reserved. */
  mark: string | null
}

/** The steps from a payment that has no order yet to its order. */
async function take(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  payment: PaymentPayload,
  progress: Progress,
): Promise<Begun> {
  if (request.heldUp) throw request.heldUp
  const priced = priceNow(deps, request)
  const accepted = accept(payment, priced.amount, deps.payees, deps.now())
  if (accepted.type === 'mismatch') return paymentRequired(deps, priced, accepted)
  const { lineItem } = priced
  const sent = { client: request.client, recipient: lineItem.recipient }
  const subjects = subjectsOf(deps, accepted.tender.payer, sent)
  const float = floatSeen(deps)
  const { amount } = priced
  const [, isSigned] = await Promise.all([
    requireBudgets(deps, subjects, float === undefined ? undefined : { float, amount }),
    deps.rails.x402.isSignedByPayer(accepted.tender),
  ])
  const wordings = wordingsOf(priced.offer.kind, request.fields)
  // Nobody can submit an authorization that has ended, so it is reserved only once it was found good.
  const isOver = hasEnded(accepted.tender, deps.now())
  if (!isOver) progress.mark = await reserve(deps, accepted.tender, { wordings, isSigned })
  const [checked, within] = await Promise.all([
    deps.rails.x402.check(accepted.tender),
    beforeLimits(deps, priced, accepted.tender.payer),
  ])
  progress.money = moneyOf(checked)
  switch (checked.outcome) {
    case 'good': {
      // The payer is proven only now, and nobody else may learn of their limits or their eSIMs.
      const { tender } = checked
      if (isOver) progress.mark = await reserve(deps, tender, { wordings, isSigned })
      requireNotDenied(deps, tender.payer)
      if (within.refusal) throw within.refusal
      await requireOwnEsim(deps, priced, tender.payer)
      const above = lesser(within.approveAbove, request.approveAbove)
      await requireApproval(deps, { request, priced, tender, above })
      return open(deps, request, { priced, tender, receiver: within.receiver, subjects })
    }
    case 'bad':
      return paymentRequired(deps, priced, checked)
    case 'unknown':
      throw refusalWith(notChecked(checked), { provesNothing: true })
    default:
      return never(checked)
  }
}

/** A query about a foreign eSIM counts against the caller, or payments that are never taken could probe for eSIMs. */
async function requireOwnEsim(deps: PurchaseDeps, priced: Priced, payer: string): Promise<void> {
  const refusal = await foreignEsim(deps, priced, payer)
  if (refusal) throw refusalWith(refusal, { provesNothing: true })
}

/** What the refund wallet held when it was seen last. */
function floatSeen({ health }: PurchaseDeps): Usdc | undefined {
  return health.means()?.cover?.float
}

/** What is asked for and its price, while the store is open for it. */
function priceNow(deps: PurchaseDeps, { kind, fields, payment }: PurchaseRequest): Priced {
  const priced = price(deps, kind, fields, payment?.accepted.extra['quote'])
  requireSold(deps.health, priced, true)
  return priced
}

interface Ready {
  readonly priced: Priced
  readonly tender: X402Payment
  /** Digest of the recipient, for the limits of the payer. */
  readonly receiver: string | undefined
  readonly subjects: Subjects
}

/** The webhook that a purchase names, as it is stored, and the new secret that signs its events. */
function webhookOf({ vault, digest }: PurchaseDeps, url: string | undefined, order: OrderId) {
  if (url === undefined) return undefined
  const secret = newWebhookSecret()
  const target: WebhookTarget = { url, secret }
  const receiver = digest.of(`webhook ${new URL(url).hostname}`)
  return { secret, kept: { target: vault.seal(target, { order, field: 'webhook' }), receiver } }
}

/** Puts the order on record. */
async function open(
  deps: PurchaseDeps,
  { fields, viewer }: PurchaseRequest,
  { priced, tender, receiver, subjects }: Ready,
): Promise<Opened | Earlier> {
  const { offer, lineItem, amount } = priced
  const accessToken = newAccessToken()
  const { id, paymentId } = idsFor(deps.digest, tender)
  const [wording] = wordingsOf(offer.kind, fields)
  const now = deps.now()
  const order: In<'PAYMENT_PENDING'> = {
    state: 'PAYMENT_PENDING',
    id,
    paymentId,
    version: 1,
    item: itemOf(priced),
    recipient: deps.vault.seal(lineItem.recipient, { order: id, field: 'recipient' }),
    fingerprint: deps.digest.of(wording),
    accessTokenHash: hashOf(accessToken),
    tender,
    amount,
    placedAt: now,
    changedAt: now,
  }
  const keys = (viewer.keys ?? []).map(hashOf)
  const counted = { subjects, rules: deps.budgets, float: floatSeen(deps) }
  const webhook = webhookOf(deps, lineItem.webhookUrl, id)
  const reference = supplierReferenceOf(id)
  // Other sales may have left too little while this payment was checked.
  sell(deps.health, reference, priced)
  const opened = await openWithin(deps, order, {
    keys,
    priced,
    recipient: receiver,
    counted,
    webhook: webhook?.kept,
  }).catch((error: unknown) => {
    deps.health.unsell(reference)
    throw error instanceof BudgetSpent ? budgetSpent(deps, error.spent) : error
  })
  deps.health.noteOpened(reference)
  return opened.isNew
    ? {
        type: 'opened',
        order,
        accessToken,
        webhook: webhook && { secret: webhook.secret, state: opened.webhook ?? 'active' },
      }
    : { type: 'earlier', order: opened.order }
}

/** Settles the payment, and advances the order as far as it can go now. */
async function carryOut(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  { order, accessToken, webhook }: Opened,
): Promise<PurchaseAnswer> {
  const patienceMs = patienceOf(deps, request)
  const working = carriedOn(deps, order, patienceMs)
  const advanced = await inTime(deps, order, { working, patienceMs })
  if (advanced.state === 'PAYMENT_FAILED') return refusedPayment(deps, request, advanced)
  const opened = { accessToken, webhook }
  return { type: 'order', order: advanced, ...opened, replayed: false, reveal: true }
}

/**
 * From here on money may have moved, so nothing that fails in the store may become an error for the
 * buyer: the order is on record, and the sweep goes on with it.
 */
async function carriedOn(deps: PurchaseDeps, order: Order, patienceMs: number): Promise<Order> {
  try {
    return await advance(deps, order, patienceMs)
  } catch (error) {
    deps.report({ name: 'step_failed', order: order.id, error })
    return lastKnown(deps, order)
  }
}

/** The shortest wait, even for a buyer who does not want to wait. */
const minPatienceMs = 1_000
const overtimeMs = 250

/**
 * The order when the buyer's patience ends, even if a call to the supplier still hangs. While the
 * payment is under way, the answer waits for it: the buyer must know whether it was taken.
 */
async function inTime(
  deps: PurchaseDeps,
  order: Order,
  { working, patienceMs }: { readonly working: Promise<Order>; readonly patienceMs: number },
): Promise<Order> {
  if (!deps.within) return working
  for (let ms = Math.max(patienceMs, minPatienceMs); ; ms = overtimeMs) {
    const done = await deps.within(ms, working, 'late').catch(() => undefined)
    if (done) return done
    const known = await lastKnown(deps, order)
    if (known.state !== 'PAYMENT_PENDING' && known.state !== 'PAID') return known
  }
}

/** The order on record; while that cannot be read, the last known one. */
async function lastKnown({ orders }: PurchaseDeps, order: Order): Promise<Order> {
  try {
    return (await orders.find(order.id)) ?? order
  } catch {
    return order
  }
}

/** @param failed the order whose payment failed and whose key is free for this request, if there is one */
async function again(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  earlier: Order,
  failed?: OrderId,
): Promise<PurchaseAnswer> {
  const replayed = () => replay(deps, request, earlier)
  const { order, reveal } = await orTryAgain(deps.report, 'unknown', replayed)
  if (order.state !== 'PAYMENT_FAILED') return { type: 'order', order, replayed: true, reveal }
  // Another payment failed under this key and gave it back, so this one is a purchase of its own. The
  // same request may have begun it elsewhere: a buyer who is asked to pay now would pay twice.
  const isOther = !isPaidBy(order, request) && order.id !== failed
  return isOther ? purchase(deps, request, order.id) : refusedPayment(deps, request, order)
}

/** The payment is proven to have failed, so asking for another one makes nobody pay twice. */
function refusedPayment(deps: PurchaseDeps, request: PurchaseRequest, order: In<'PAYMENT_FAILED'>) {
  const priced = whileUnpaid(() => price(deps, request.kind, request.fields))
  return paymentRequired(deps, priced, order)
}

function paymentRequired(
  deps: PurchaseDeps,
  priced: Priced,
  fault?: { readonly code: string; readonly reason: string },
): Demand {
  return {
    type: 'payment_required',
    accepts: acceptsFor(deps, priced),
    offer: priced.offer,
    lineItem: priced.lineItem,
    ...(fault ? { fault: { code: fault.code, reason: fault.reason } } : {}),
  }
}
