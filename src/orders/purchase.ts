import type { Offer } from '../catalog/offer.ts'
import { type LineItem, wordingOf } from '../catalog/purchase-body.ts'
import type { Health } from '../health/health.ts'
import { never } from '../lib/errors.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import { type Charged, Refusal, refusalWith, whileUnpaid } from '../lib/refusal.ts'
import type { within } from '../lib/scheduling.ts'
import { paymentKeyOf, type X402Payment } from '../payments/payment.ts'
import { accept, hasEnded, type PaymentPayload, signedTo, type Terms } from '../payments/terms.ts'
import { hashOf, newAccessToken } from '../secrets/secrets.ts'
import { type AdvanceDeps, advance, readLatest } from './advance.ts'
import { budgetSpent, requireBudgets, subjectsOf } from './budgets.ts'
import { foundBy } from './finding.ts'
import { type In, idsFor, type Order, supplierReferenceOf } from './order.ts'
import {
  type BudgetRules,
  BudgetSpent,
  type Reservation,
  type ReservationStore,
  type Subjects,
  TwinFound,
} from './ports.ts'
import {
  acceptsFor,
  foreignEsim,
  itemOf,
  notChecked,
  notNow,
  orTryAgain,
  type PriceDeps,
  type Priced,
  price,
  refuseUnsold,
  requireNotDenied,
  requireSold,
} from './price.ts'
import {
  earlierOrder,
  isPaidBy,
  type PurchaseRequest,
  patienceOf,
  paymentKeyIn,
  possibleDuplicate,
  type Replay,
  replay,
  twinsOf,
} from './replay.ts'
import {
  type ApprovalDeps,
  beforeLimits,
  type CheckDeps,
  lesser,
  openWithin,
  requireApproval,
  type Within,
} from './spending-limits/rules.ts'
import type { WebhookState } from './webhooks/ports.ts'
import { newWebhookFor } from './webhooks/sender.ts'

export interface PurchaseDeps extends AdvanceDeps, PriceDeps, CheckDeps, ApprovalDeps {
  readonly reservations: ReservationStore
  /** Limits the wait for a call that hangs; without it, an answer waits for the call to end. */
  readonly within?: typeof within
  readonly budgets: BudgetRules
  readonly health: Pick<Health, 'unsold' | 'sell' | 'noteOpened' | 'unsell' | 'means'>
}

export interface OpenedWebhook {
  /** Signs its events. Shown once. */
  readonly secret: string
  readonly state: WebhookState
}

export type PurchaseAnswer =
  | {
      readonly type: 'payment_required'
      readonly accepts: readonly [Terms]
      readonly offer: Offer
      readonly lineItem: LineItem
      readonly fault?: { readonly code: string; readonly reason: string }
    }
  | ({
      readonly type: 'order'
      /** Only in the answer to the request that opened the order. */
      readonly accessToken?: string
      readonly webhook?: OpenedWebhook | undefined
      readonly replayed: boolean
    } & Replay)

/**
 * A refusal of a request with a payment says in `charged` whether its money moved; a demand is made only if it has not.
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
  const result = await orTryAgain(deps.report, charged, () => beginPurchase(deps, request))
  switch (result.type) {
    case 'payment_required':
      return result
    case 'earlier':
      return replayOrder(deps, request, result.order, failed)
    case 'opened':
      return carryOut(deps, request, result)
    default:
      return never(result)
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
 * Before a payment is turned down its order is looked for once more: the same request may have come twice, and the
 * other one may have taken the payment. That buyer must not sign another payment.
 */
async function beginPurchase(deps: PurchaseDeps, request: PurchaseRequest): Promise<Begun> {
  const { payment } = request
  const earlier = async (): Promise<Earlier | undefined> => {
    const order = await earlierOrder(deps, request)
    return order && { type: 'earlier', order }
  }
  const first = await earlier()
  if (first) return first
  if (payment === undefined) return paymentRequired(deps, priceNow(deps, request))
  const result = await takePayment(deps, request, payment)
  if (result.type !== 'turned_down') return result
  const { money } = result
  const checkedAt = deps.now()
  const chargeStatus = await readChargeStatus(deps, request, payment, money)
  const mark = money.moved === 'no' ? money.mark : null
  const mayBeTaken = chargeStatus.charged === 'no' && (await isConsidered(deps, payment, mark))
  const late = await earlier()
  if (late) return late
  const isOld = deps.now().getTime() - checkedAt.getTime() > chargeStatusValidMs
  const isUnsure = chargeStatus.charged === 'no' && (mayBeTaken || isOld)
  return turnedDown(result.why, isUnsure ? { charged: 'unknown' } : chargeStatus)
}

/** How long the finding that nothing was paid holds; milliseconds. A process that was paused for longer cannot know. */
const chargeStatusValidMs = 10_000

/** @throws Refusal instead of a demand where the payment may have moved money */
function turnedDown(
  why: Refusal | Demand,
  chargeStatus: { readonly charged: Charged; readonly provesNothing?: true },
): Demand {
  if (chargeStatus.charged === 'no') {
    if (!(why instanceof Refusal)) return why
    throw refusalWith(why, { charged: why.details.charged ?? 'no' })
  }
  if (why instanceof Refusal) throw refusalWith(why, chargeStatus)
  throw refusalWith(
    notNow('It is not known yet what became of this payment.', 'unknown'),
    chargeStatus,
  )
}

/** What is known of the money of a payment that has no order; `unseen`: nobody has looked. */
type Money =
  | { readonly moved: 'unseen' | 'yes' | 'unknown' }
  /** `mark` is that of this request; null if the payment was not reserved for it. */
  | { readonly moved: 'no'; readonly mark: Reservation['mark'] }

interface TurnedDown {
  readonly type: 'turned_down'
  readonly why: Refusal | Demand
  readonly money: Money
}

function turnDown(why: Refusal | Demand, money: Money): TurnedDown {
  return { type: 'turned_down', why, money }
}

/** The result of the work; or its refusal, with what was known of the money before it. */
async function orTurnDown<T>(money: Money, work: () => Promise<T>): Promise<T | TurnedDown> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return turnDown(error, money)
    throw error
  }
}

const unseen: Money = { moved: 'unseen' }

async function takePayment(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  payment: PaymentPayload,
): Promise<Opened | Earlier | TurnedDown> {
  const bound = await orTurnDown(unseen, () => bindPayment(deps, request, payment))
  if (bound.type === 'turned_down') return bound
  const { priced, mark } = bound
  const [checked, within] = await Promise.all([
    deps.methods.x402.check(bound.payment),
    beforeLimits(deps, priced, bound.payment.payer),
  ])
  switch (checked.outcome) {
    case 'good': {
      const money: Money = checked.hasLanded ? { moved: 'yes' } : { moved: 'no', mark }
      const proven = { ...bound, payment: checked.payment }
      return orTurnDown(money, () => openFor(deps, request, proven, within))
    }
    case 'bad':
      return turnDown(paymentRequired(deps, priced, checked), { moved: 'no', mark })
    case 'unknown': {
      const why = refusalWith(notChecked(checked), { provesNothing: true })
      return turnDown(why, checked.charged === 'no' ? unseen : { moved: 'unknown' })
    }
    default:
      return never(checked)
  }
}

interface Bound {
  readonly type: 'bound'
  readonly priced: Priced
  readonly payment: X402Payment
  readonly subjects: Subjects
  readonly wording: string
  readonly isSigned: boolean
  readonly mark: Reservation['mark']
}

/** Checks all that needs no call to the chain, and reserves the payment for this request. */
async function bindPayment(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  payload: PaymentPayload,
): Promise<Bound | TurnedDown> {
  if (request.heldUp) throw request.heldUp
  const priced = priceNow(deps, request)
  const { amount, lineItem, offer } = priced
  const accepted = accept(payload, amount, deps.payee, deps.now())
  if (accepted.type === 'mismatch') return turnDown(paymentRequired(deps, priced, accepted), unseen)
  const { payment } = accepted
  const { recipient } = lineItem
  const subjects = subjectsOf(deps, payment.payer, { client: request.client, recipient })
  const float = readFloat(deps)
  const [, isSigned] = await Promise.all([
    requireBudgets(deps, subjects, float === undefined ? undefined : { float, amount }),
    deps.methods.x402.isSignedByPayer(payment),
  ])
  const bound = {
    priced,
    payment,
    subjects,
    wording: wordingOf(offer.kind, request.fields),
    isSigned,
  }
  // Nobody can submit an authorization that has ended, so it is reserved only once it was found good.
  const mark = hasEnded(payment, deps.now()) ? null : await reserve(deps, bound)
  return { type: 'bound', ...bound, mark }
}

/** The payer is proven only now, and nobody else may learn of their limits or their eSIMs. */
async function openFor(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  bound: Bound,
  within: Within,
): Promise<Opened | Earlier> {
  const { priced, payment } = bound
  if (bound.mark === null) await reserve(deps, bound)
  requireNotDenied(deps, payment.payer)
  if (within.refusal) throw within.refusal
  const foreign = await foreignEsim(deps, priced, payment.payer)
  // Counts against the caller, or payments that are never taken could probe for eSIMs.
  if (foreign) throw refusalWith(foreign, { provesNothing: true })
  const above = lesser(within.approveAbove, request.approveAbove)
  await requireApproval(deps, { request, priced, payment, above })
  return openOrder(deps, request, bound, within.recipients)
}

function readFloat({ health }: PurchaseDeps): Usdc | undefined {
  return health.means()?.cover?.float
}

function priceNow(deps: PurchaseDeps, { kind, fields, payment, sealed }: PurchaseRequest): Priced {
  const promise = payment?.accepted.extra['quote'] ?? sealed?.promise
  const priced = price(deps, kind, fields, promise)
  requireSold(deps.health, priced, true)
  return priced
}

async function openOrder(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  { priced, payment, subjects, wording }: Bound,
  recipients: readonly string[],
): Promise<Opened | Earlier> {
  const { lineItem, amount } = priced
  const accessToken = newAccessToken()
  const { id, paymentId } = idsFor(deps.digest, payment)
  const now = deps.now()
  const order: In<'PAYMENT_PENDING'> = {
    state: 'PAYMENT_PENDING',
    id,
    paymentId,
    version: 1,
    item: itemOf(priced, deps.pricing),
    recipient: deps.vault.seal(lineItem.recipient, { order: id, field: 'recipient' }),
    fingerprint: deps.digest.of(wording),
    accessTokenHash: hashOf(accessToken),
    payment,
    amount,
    placedAt: now,
    changedAt: now,
  }
  const keys = (request.viewer.keys ?? []).map(hashOf)
  const counted = { subjects, rules: deps.budgets, float: readFloat(deps) }
  const webhook = newWebhookFor(deps, id, lineItem.webhookUrl)
  const reference = supplierReferenceOf(id)
  // Other sales may have left too little while this payment was checked.
  refuseUnsold(deps.health.sell(reference, amount, priced.offer.source.supplier), amount)
  const opened = await openWithin(deps, order, {
    keys,
    priced,
    recipients,
    counted,
    webhook: webhook?.kept,
    twins: twinsOf(deps, request, { recipient: lineItem.recipient, payer: payment.payer }),
    address: request.sealed?.address,
    foundBy: foundBy(deps, id, lineItem.recipient),
  }).catch(async (error: unknown) => {
    deps.health.unsell(reference)
    if (error instanceof TwinFound) throw await possibleDuplicate(deps, error)
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

async function carryOut(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  { order, accessToken, webhook }: Opened,
): Promise<PurchaseAnswer> {
  const patienceMs = patienceOf(deps, request)
  const working = advance(deps, order, patienceMs)
  const advanced = await inTime(deps, order, { working, patienceMs })
  if (advanced.state === 'PAYMENT_FAILED') return refusedPayment(deps, request, advanced)
  const opened = { accessToken, webhook }
  return { type: 'order', order: advanced, ...opened, replayed: false, reveal: 'purchase' }
}

/** The shortest wait, even for a buyer who does not want to wait. */
const minPatienceMs = 1_000
const overtimeMs = 250

/** The order when the patience ends. While the payment is under way, the answer waits: the buyer must know of it. */
async function inTime(
  deps: PurchaseDeps,
  order: Order,
  { working, patienceMs }: { readonly working: Promise<Order>; readonly patienceMs: number },
): Promise<Order> {
  if (!deps.within) return working
  for (let ms = Math.max(patienceMs, minPatienceMs); ; ms = overtimeMs) {
    const done = await deps.within(ms, working, 'late').catch(() => undefined)
    if (done) return done
    const latest = await readLatest(deps, order)
    if (latest.state !== 'PAYMENT_PENDING' && latest.state !== 'PAID') return latest
  }
}

async function replayOrder(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  earlier: Order,
  failed?: OrderId,
): Promise<PurchaseAnswer> {
  const charged = request.payment ? 'unknown' : 'no'
  const known = await orTryAgain(deps.report, charged, () => replay(deps, request, earlier))
  const { order } = known
  if (order.state !== 'PAYMENT_FAILED') return { type: 'order', ...known, replayed: true }
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

/**
 * Binds a payment to its request before anybody outside sees it: a chain provider or a facilitator could otherwise
 * send it with a request of its own, and be first (docs/contributors/decisions/016).
 *
 * @throws Refusal `payment_reused` when the payment came with another request first
 */
async function reserve(
  { reservations, digest }: PurchaseDeps,
  { payment, wording, isSigned }: Pick<Bound, 'payment' | 'wording' | 'isSigned'>,
): Promise<Reservation['mark']> {
  const reservation = await reservations.reserve(
    paymentKeyOf(payment),
    digest.of(wording),
    isSigned,
  )
  if (digest.matches(wording, reservation.request)) return reservation.mark
  const message =
    'This payment came with another request first. Send that one again to learn what became of it.'
  throw new Refusal('payment_reused', message, { charged: 'unknown' })
}

/**
 * Two equal requests that are checked at once may be judged differently, for example by two chain providers of which
 * one has not seen yet that the wallet was funded.
 *
 * @param mark of this request, if it was judged and opens no order; otherwise null
 */
async function isConsidered(
  { reservations }: PurchaseDeps,
  payment: PaymentPayload,
  mark: Reservation['mark'],
): Promise<boolean> {
  const key = paymentKeyIn(payment)
  // Released first, so that of two requests that end at once at least one finds the other gone.
  if (mark !== null) await reservations.release(key, mark)
  return reservations.isConsidered(key)
}

/**
 * A payment that opens no order may have paid for one whose record was lost. So if it pays this store and was not
 * checked, the chain is asked once whether it was used; one that was used proves nothing to this request.
 */
async function readChargeStatus(
  { methods, payee }: PurchaseDeps,
  { heldUp }: PurchaseRequest,
  payment: PaymentPayload,
  money: Money,
): Promise<{ readonly charged: Charged; readonly provesNothing?: true }> {
  if (money.moved !== 'unseen') return { charged: money.moved }
  const signed = signedTo(payee, payment)
  if (signed === undefined) return { charged: 'no' }
  // A caller above a limit must not cause calls to the chain.
  if (heldUp?.code === 'rate_limited') return { charged: 'unknown' }
  const isUnused = await methods.x402.isUnused(signed)
  return isUnused ? { charged: 'no' } : { charged: 'unknown', provesNothing: true }
}
