import type { Kind, Offer } from '../goods/offer.ts'
import { type Fields, invalidBody, type Wish, wordingOf } from '../goods/purchase-body.ts'
import type { Vitals } from '../health/vitals.ts'
import { accept } from '../payments/acceptance.ts'
import { paymentKeyOf, type Tender } from '../payments/payment.ts'
import type { PaymentPayload, Terms } from '../payments/x402.ts'
import { newOrderId, newPaymentId } from '../primitives/ids.ts'
import { never } from '../primitives/never.ts'
import { Refusal } from '../primitives/refusal.ts'
import { hashOf, newAccessToken } from '../secrets/tokens.ts'
import { mayReveal, type Viewer } from './access.ts'
import { type AdvanceDeps, advance } from './advance.ts'
import { chargedOf, type In, type Item, isUnderWay, type Order } from './order.ts'
import { type PriceDeps, type Priced, price, termsFor } from './price.ts'

export interface PurchaseDeps extends AdvanceDeps, PriceDeps {
  readonly vitals: Pick<Vitals, 'signals'>
}

export interface PurchaseRequest {
  readonly kind: Kind
  /** The flat fields of the body. */
  readonly fields: Fields
  /** Undefined on a first call, which only asks for the price. */
  readonly payment: PaymentPayload | undefined
  readonly viewer: Viewer
  /** How long the buyer wants to wait for the goods at most, if that is shorter than our patience. */
  readonly patienceMs?: number | undefined
}

export type PurchaseAnswer =
  | {
      readonly type: 'payment_required'
      readonly terms: Terms
      readonly offer: Offer
      /** Why the payment that was sent was not taken. */
      readonly fault?: { readonly code: string; readonly reason: string }
    }
  | {
      readonly type: 'order'
      readonly order: Order
      /** Only in the answer to the request that opened the order. */
      readonly accessToken?: string
      readonly replayed: boolean
      readonly reveal: boolean
    }

/** One purchase, from the first word to the last. Without a payment, it names the price. */
export async function purchase(
  deps: PurchaseDeps,
  request: PurchaseRequest,
): Promise<PurchaseAnswer> {
  const { payment } = request
  const earlier = payment && (await earlierOrder(deps, request, payment))
  if (earlier) return again(deps, request, earlier)

  const priced = price(deps, request.kind, request.fields, payment?.accepted.extra['quote'])
  requireOpen(deps)
  if (!payment) return paymentRequired(deps, priced)

  const accepted = accept(payment, priced.amount, deps.till, deps.now())
  if (accepted.type === 'mismatch') return paymentRequired(deps, priced, accepted)
  await requireOwnEsim(deps, priced.wish, accepted.tender)

  const checked = await deps.rails[accepted.tender.rail].check(accepted.tender)
  switch (checked.outcome) {
    case 'good':
      return place(deps, request, priced, checked.tender)
    case 'bad':
      return paymentRequired(deps, priced, checked)
    case 'unknown':
      throw new Refusal(
        'try_again',
        'The payment could not be checked just now. Send the same request again.',
        {
          charged: 'no',
          retryAfterSeconds: 5,
        },
      )
    default:
      return never(checked)
  }
}

/** The order that this payment or one of these keys opened before. */
async function earlierOrder(
  deps: PurchaseDeps,
  { viewer }: PurchaseRequest,
  payment: PaymentPayload,
) {
  const known = await deps.orders.findByPayment(paymentKeyIn(payment))
  if (known) return known
  const { from } = payment.payload.authorization
  for (const key of viewer.keys ?? []) {
    const order = await deps.orders.findByKey(from, hashOf(key))
    if (order) return order
  }
  return undefined
}

function paymentKeyIn({ accepted, payload }: PaymentPayload): string {
  const { from: payer, nonce } = payload.authorization
  return paymentKeyOf({ network: accepted.network, asset: accepted.asset, payer, nonce })
}

async function place(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  { offer, wish, amount }: Priced,
  tender: Tender,
): Promise<PurchaseAnswer> {
  const accessToken = newAccessToken()
  const id = newOrderId()
  const now = deps.now()
  const opened = await deps.orders.open(
    {
      state: 'PAYMENT_PENDING',
      id,
      paymentId: newPaymentId(),
      version: 1,
      item: itemOf(offer, wish),
      recipient: deps.vault.seal(wish.recipient, { order: id, field: 'recipient' }),
      fingerprint: deps.digest.of(wordingOf(request.kind, request.fields)),
      accessTokenHash: hashOf(accessToken),
      tender,
      amount,
      placedAt: now,
      changedAt: now,
    },
    (request.viewer.keys ?? []).map(hashOf),
  )
  if (!opened.isNew) return again(deps, request, opened.order)
  const order = await advanceSafely(deps, opened.order, patienceOf(deps, request))
  if (order.state === 'PAYMENT_FAILED') return refusedPayment(deps, request, order)
  return { type: 'order', order, accessToken, replayed: false, reveal: true }
}

/**
 * From here on money may have moved, so nothing that goes wrong in our house may become an error
 * for the buyer: the order is on record, and the sweep goes on with it.
 */
async function advanceSafely(deps: PurchaseDeps, order: Order, patienceMs: number): Promise<Order> {
  try {
    return await advance(deps, order, patienceMs)
  } catch (error) {
    deps.report({ name: 'step_failed', order: order.id, error })
    return order
  }
}

/** The same request came again, perhaps because our first answer never arrived. */
async function again(
  deps: PurchaseDeps,
  request: PurchaseRequest,
  earlier: Order,
): Promise<PurchaseAnswer> {
  if (!deps.digest.matches(wordingOf(request.kind, request.fields), earlier.fingerprint)) {
    throw usedForAnother(request, earlier)
  }
  const reveal = await mayReveal(deps.orders, earlier, request.viewer)
  const order = reveal ? await untilEnded(deps, earlier, patienceOf(deps, request)) : earlier
  if (order.state === 'PAYMENT_FAILED') return refusedPayment(deps, request, order)
  return { type: 'order', order, replayed: true, reveal }
}

function patienceOf({ policy }: PurchaseDeps, { patienceMs }: PurchaseRequest): number {
  return Math.min(policy.patienceMs, patienceMs ?? policy.patienceMs)
}

/** Says which of the two was used before, because only a used payment was charged. */
function usedForAnother({ payment }: PurchaseRequest, earlier: Order): Refusal {
  const extra = { orderId: earlier.id }
  if (payment && paymentKeyOf(earlier.tender) === paymentKeyIn(payment)) {
    const message = 'This payment was used before, for another purchase.'
    return new Refusal('payment_reused', message, { charged: chargedOf(earlier), extra })
  }
  const message =
    'This idempotency key was used before, for another purchase. This payment was not taken.'
  return new Refusal('idempotency_conflict', message, { charged: 'no', extra })
}

/** Waits, as the first request does, while somebody else works on the order. */
async function untilEnded(deps: PurchaseDeps, order: Order, patienceMs: number): Promise<Order> {
  const until = deps.now().getTime() + patienceMs
  let current = order
  while (isUnderWay(current) && deps.now().getTime() < until && !deps.stopping.aborted) {
    await deps.doorbell.wait(current.id, 250)
    current = (await deps.orders.find(current.id)) ?? current
  }
  return current
}

/** Failure is proven here, so asking for another payment cannot make anyone pay twice. */
function refusedPayment(deps: PurchaseDeps, request: PurchaseRequest, order: In<'PAYMENT_FAILED'>) {
  return paymentRequired(deps, price(deps, request.kind, request.fields), order)
}

function paymentRequired(
  deps: PurchaseDeps,
  priced: Priced,
  fault?: { readonly code: string; readonly reason: string },
): PurchaseAnswer {
  return {
    type: 'payment_required',
    terms: termsFor(deps, priced),
    offer: priced.offer,
    ...(fault ? { fault: { code: fault.code, reason: fault.reason } } : {}),
  }
}

function requireOpen({ vitals }: PurchaseDeps): void {
  if (vitals.signals().agent_action !== 'stop') return
  const message = 'The store takes no purchases just now. Nothing was charged.'
  throw new Refusal('store_paused', message, {
    charged: 'no',
    retryAfterSeconds: 60,
    extra: { agent_action: 'stop' },
  })
}

/** An eSIM that gets another plan must be the buyer's, or one that the supplier knows. */
async function requireOwnEsim(deps: PurchaseDeps, { recipient }: Wish, { payer }: Tender) {
  if (recipient.kind !== 'esim' || recipient.iccid === undefined) return
  if (await deps.orders.boughtIccid(payer, deps.digest.of(recipient.iccid))) return
  const known = await deps.supplier.knowsIccid(recipient.iccid)
  if (known === 'yes') return
  if (known === 'no') {
    const message = 'is not an eSIM bought here by this wallet, and the supplier does not know it'
    throw invalidBody([{ parameter: 'iccid', message }])
  }
  const message = 'The eSIM could not be looked up just now. Send the same request again.'
  throw new Refusal('try_again', message, { charged: 'no', retryAfterSeconds: 5 })
}

function itemOf(offer: Offer, { value }: Wish): Item {
  return {
    kind: offer.kind,
    offerId: offer.id,
    brandName: offer.brandName,
    ...(offer.country === undefined ? {} : { country: offer.country }),
    ...(value === undefined ? {} : { value: (value * offer.price.divisor) / 100 }),
  }
}
