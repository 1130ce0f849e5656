import type { Kind, Recipient } from '../catalog/offer.ts'
import { type Fields, wordingOf } from '../catalog/purchase-body.ts'
import type { Usdc } from '../lib/money.ts'
import { Refusal } from '../lib/refusal.ts'
import { paymentKeyOf, same } from '../payments/payment.ts'
import type { PaymentPayload } from '../payments/terms.ts'
import { hashOf, sameHash } from '../secrets/secrets.ts'
import type { AdvanceDeps } from './advance.ts'
import { justReceived, soonAfter } from './budgets.ts'
import type { Proof } from './finding.ts'
import { chargedOf, isUnderWay, type Order } from './order.ts'
import type { OrderStore, TwinFound, Twins } from './ports.ts'

export interface PurchaseRequest {
  /** Undefined if only the offer determines it. */
  readonly kind: Kind | undefined
  readonly fields: Fields
  /** Undefined on a first call, which only asks for the price. */
  readonly payment: PaymentPayload | undefined
  readonly viewer: Viewer
  /** Set if the purchase came sealed in an address, which buys once, whoever pays. */
  readonly sealed?: { readonly address: string; readonly promise: string } | undefined
  /** The address that the request came from, as limits count it. */
  readonly client?: string | undefined
  /** Checks the sign-in that the request carries. Called only if the goods of an earlier order depend on it. */
  readonly signedIn?: (() => Promise<string | undefined>) | undefined
  /** The limit that the request exceeds. It may then only find its earlier order. */
  readonly heldUp?: Refusal | undefined
  readonly approveAbove?: Usdc | undefined
  /** Whether the buyer says that this repeats no other purchase. Otherwise a lost answer could be paid for twice. */
  readonly isAnother?: boolean | undefined
  /** How long the buyer wants to wait for the goods at most, if that is shorter than our patience. */
  readonly patienceMs?: number | undefined
}

export async function earlierOrder(
  { orders }: Pick<AdvanceDeps, 'orders'>,
  { viewer, payment, sealed }: PurchaseRequest,
): Promise<Order | undefined> {
  const byPayment = payment && (await orders.findByPayment(paymentKeyIn(payment)))
  if (byPayment) return byPayment
  for (const key of (viewer.keys ?? []).map(hashOf)) {
    const order = payment
      ? await orders.findByKey(payment.payload.authorization.from, key)
      : await orders.findOnlyByKey(key)
    if (order) return order
  }
  return sealed && orders.findByAddress(sealed.address)
}

/** Said to whoever has no payment yet too, so that nobody signs one in vain. */
function addressUsed({ id }: Order): Refusal {
  const message = `This address was paid before, and buys once. The order is ${id}; its goods need the idempotency key, the accessToken or a sign-in of the wallet that paid. To buy again, ask for a new quote.`
  return new Refusal('quote_used', message, { charged: 'no', extra: { orderId: id } })
}

export function paymentKeyIn({ accepted, payload }: PaymentPayload): string {
  const { from: payer, nonce } = payload.authorization
  return paymentKeyOf({ network: accepted.network, asset: accepted.asset, payer, nonce })
}

export function isPaidBy(order: Order, { payment }: PurchaseRequest): boolean {
  return payment !== undefined && paymentKeyOf(order.payment) === paymentKeyIn(payment)
}

export type Replay =
  | { readonly order: Order; readonly reveal: Proof }
  /**
   * For a caller who shows only the payment, which is public: they may see the state, not the goods.
   * `isOther`: the payment was not made for this request.
   */
  | { readonly order: Order; readonly reveal: false; readonly isOther: boolean }

/**
 * Answers a request that came again with its order, and with the goods if the caller proves that it is theirs. The
 * payment proves nothing, since everybody can read it on the chain.
 *
 * @throws Refusal `payment_reused`, `idempotency_conflict` when it asks for something else, `quote_used`
 */
export async function replay(
  deps: AdvanceDeps,
  request: PurchaseRequest,
  earlier: Order,
): Promise<Replay> {
  const wording = wordingOf(request.kind ?? earlier.item.kind, request.fields)
  // A rebuilt order does not say what was asked for. Its payment opened no other one.
  const isOther = earlier.fingerprint !== '' && !deps.digest.matches(wording, earlier.fingerprint)
  const reveal = await maySee(deps, request, earlier)
  if (!reveal) {
    const isPaid = isPaidBy(earlier, request)
    if (request.sealed && !isPaid) throw addressUsed(earlier)
    // A key that led here may have been let go since, because the payment failed.
    return { order: earlier, reveal: false, isOther: isOther && isPaid }
  }
  if (isOther) throw usedForAnother(request, earlier)
  return { order: await untilEnded(deps, earlier, patienceOf(deps, request)), reveal }
}

/** A sign-in is good for one use, so it is used only if nothing else proves that the order is the caller's. */
async function maySee(
  { orders }: Pick<AdvanceDeps, 'orders'>,
  { viewer, signedIn }: PurchaseRequest,
  order: Order,
): Promise<Proof | false> {
  const shown = await mayReveal(orders, order, viewer)
  if (shown) return shown
  const wallet = await signedIn?.()
  return wallet !== undefined && mayReveal(orders, order, { wallet })
}

/** How long this request is kept open for its goods; milliseconds. */
export function patienceOf(
  { policy }: Pick<AdvanceDeps, 'policy'>,
  { patienceMs }: PurchaseRequest,
): number {
  return Math.min(policy.patienceMs, patienceMs ?? policy.patienceMs)
}

/** Says which of the two was used before, because only a used payment was charged. */
function usedForAnother(request: PurchaseRequest, earlier: Order): Refusal {
  const extra = { orderId: earlier.id }
  if (isPaidBy(earlier, request)) {
    const message = 'This payment was used before, for another purchase.'
    return new Refusal('payment_reused', message, { charged: chargedOf(earlier), extra })
  }
  const message =
    'This idempotency key was used before, for another purchase. This request was not charged.'
  return new Refusal('idempotency_conflict', message, { charged: 'no', extra })
}

/** Where its events go does not make it another purchase. */
export function twinsOf(
  deps: Pick<AdvanceDeps, 'digest'>,
  { fields, isAnother = false }: PurchaseRequest,
  { recipient, payer }: { readonly recipient: Recipient; readonly payer: string },
): Twins {
  const wording = wordingOf(recipient.kind, { ...fields, webhookUrl: undefined })
  const digests = deps.digest.every(`twin ${payer.toLowerCase()} ${wording}`)
  return { digests, isAnother, receivers: soonAfter(deps, recipient, fields) }
}

/** Whoever lost an answer learns of the order before they pay for it again. */
export async function possibleDuplicate(
  { orders }: Pick<AdvanceDeps, 'orders'>,
  { orders: [id, ...others] }: TwinFound,
): Promise<Refusal> {
  if (id === undefined) return justReceived()
  const newest = await orders.find(id)
  if (!newest) throw new Error(`The order ${id} is gone`)
  const { state, placedAt, item } = newest
  const bought =
    item.kind === 'topup' ? 'topped up the same number' : 'bought the same for the same recipient'
  const before = others.length === 0 ? '' : `, after ${others.join(', ')}`
  const message = `This wallet ${bought} at ${placedAt.toISOString()}: order ${id} is ${state}${before}. If the answer of one was lost, ask for that order, and do not pay again. To buy another one, send the same request with confirmAnother: true and a key of its own, so that a retry finds it.`
  return new Refusal('possible_duplicate', message, {
    extra: { orderId: id, state, ...(before && { orderIds: [id, ...others] }) },
  })
}

/** Waits, as the first request does, while somebody else works on the order. */
async function untilEnded(deps: AdvanceDeps, order: Order, patienceMs: number): Promise<Order> {
  const until = deps.now().getTime() + patienceMs
  let current = order
  while (isUnderWay(current) && deps.now().getTime() < until && !deps.stopping.aborted) {
    await deps.notifier.wait(current.id, 250)
    current = (await deps.orders.find(current.id)) ?? current
  }
  return current
}

/** What a caller shows to prove that an order is theirs. Nothing of it is on the chain, for everyone to read. */
export interface Viewer {
  readonly accessToken?: string | undefined
  /** A wallet that has just signed in; proven before it gets here. */
  readonly wallet?: string | undefined
  readonly keys?: readonly string[] | undefined
}

/** A repeated payment signature proves nothing: it is public on the chain (docs/contributors/decisions/005). */
export async function mayReveal(
  orders: Pick<OrderStore, 'hasKey'>,
  order: Order,
  viewer: Viewer,
): Promise<Proof | false> {
  const { accessToken, wallet, keys = [] } = viewer
  if (accessToken && sameHash(hashOf(accessToken), order.accessTokenHash)) return 'token'
  if (wallet && same(wallet, order.payment.payer)) return 'wallet'
  return keys.length > 0 && (await orders.hasKey(order.id, keys.map(hashOf))) && 'key'
}
