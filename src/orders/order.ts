import type { Charge, Kind, OfferDetails, Source } from '../catalog/offer.ts'
import {
  isOrderId,
  type OfferId,
  type OrderId,
  orderIdOf,
  type PaymentId,
  paymentIdOf,
} from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import { type Payment, paymentKeyOf, type Receipt } from '../payments/payment.ts'
import type { Digest, Sealed } from '../secrets/secrets.ts'
import type { Payout, PayoutState } from './payout.ts'

/** What was bought, as it was at that moment; the catalog may change afterwards. */
export interface Item {
  readonly kind: Kind
  readonly offerId: OfferId
  /** Where it is bought, whatever the catalog says later. */
  readonly source: Source
  readonly brandName: string
  readonly country?: string
  /** What the buyer chose on an open-value offer, in the supplier's minor units. */
  readonly value?: number
  readonly charge?: Charge
  /** What the offer said when it was bought; absent where the record was lost. */
  readonly shown?: OfferDetails
}

interface Ordered {
  readonly id: OrderId
  readonly paymentId: PaymentId
  /** Counts the writes. A write that is based on an older version is refused. */
  readonly version: number
  readonly item: Item
  /** Who receives it. Undefined once the personal fields were erased. */
  readonly recipient: Sealed | undefined
  /** Keyed digest of the request, to tell the same purchase from another one; empty where it was lost. */
  readonly fingerprint: string
  /** SHA-256 of the token that opens the goods. */
  readonly accessTokenHash: string
  readonly payment: Payment
  readonly amount: Usdc
  /** How many transactions for its payment were sent at the store's expense and moved no money. */
  readonly reverts?: number
  readonly placedAt: Date
  /** When `state` last changed. */
  readonly changedAt: Date
}

/** A chain may drop its newest blocks: a `SEEN` payment is checked until it cannot vanish, or has vanished for good. */
export type Settlement = 'SEEN' | 'FINAL' | 'LOST'

interface Paid extends Ordered {
  readonly receipt: Receipt
  readonly settlement: Settlement
  readonly paidAt: Date
  readonly deliverBy: Date
}

interface Asking {
  readonly askedAt: Date
  /** When the same request was last repeated. A repeat may be refused because the first one was accepted. */
  readonly askedAgainAt?: Date
  /** When the supplier first showed the purchase. If a later lookup shows none, that proves nothing. */
  readonly acceptedAt?: Date
}

/** Why the goods were not delivered, in the terms of the published refund policy. */
export interface Failure {
  readonly trigger: 'fulfillment_failed' | 'upstream_timeout' | 'expired'
  /** The supplier's or carrier's own code; absent if neither gave one. */
  readonly code?: string
  readonly message: string
}

/** What became of goods that the store ordered and that the buyer will not get. */
export type Supply =
  /** It may still be delivered. `askedBackAt`: when the supplier was first asked to take late goods back. */
  | { readonly state: 'OPEN'; readonly askedBackAt?: Date }
  /** There are none. `unheard`: the supplier never said so, but showed none until its watch ended. */
  | { readonly state: 'NONE'; readonly unheard?: true }
  /** They came too late, were shown to nobody, and the supplier took them back. */
  | { readonly state: 'RETURNED' }
  /** The store paid for them, or may have: a loss, which is reported to the operator. */
  | { readonly state: 'LOST' }

interface GivenUp extends Paid, Partial<Asking> {
  /** For goods that came too late; nothing was spent if the supplier took them back. */
  readonly charge?: Charge
  readonly failure: Failure
  readonly supply: Supply
}

interface Owed extends GivenUp {
  readonly payout: Payout
  readonly refundAt?: never
}

/** Nothing is owed yet: the supplier may still deliver, and has until `refundAt` to give its final word. */
interface Awaited extends GivenUp {
  readonly refundAt: Date
  readonly payout?: never
}

/**
 * One purchase at one moment. A field exists only where it is true, so no order has both goods for its buyer and a
 * refund.
 */
export type Order =
  /** On record. The payment may have been submitted, and its money may or may not have moved. */
  | (Ordered & { readonly state: 'PAYMENT_PENDING' })
  /** Proven: the money did not move and never will. */
  | (Ordered & { readonly state: 'PAYMENT_FAILED'; readonly code: string; readonly reason: string })
  | (Paid & { readonly state: 'PAID' })
  /** The supplier may have been asked, and is asked until it has given its final word. */
  | (Paid & Asking & { readonly state: 'FULFILLING' })
  | (Paid &
      Partial<Asking> & {
        readonly state: 'FULFILLED'
        readonly delivery: Sealed
        readonly deliveredAt: Date
        readonly charge?: Charge
        /** Keyed digest of the ICCID of the eSIM that this order delivered, to find it again. */
        readonly iccidDigest?: string
      })
  | (Owed & { readonly state: 'FULFILLMENT_FAILED' })
  | ((Owed | Awaited) & { readonly state: 'EXPIRED' })

export type State = Order['state']

export type In<S extends State> = Extract<Order, { state: S }>

export type PaidOrder = Exclude<Order, In<'PAYMENT_PENDING' | 'PAYMENT_FAILED'>>

export type Refunding = In<'FULFILLMENT_FAILED' | 'EXPIRED'>

/** One move goes back: if the chain drops a payment before the supplier was asked, it is unknown again. */
export const moves = {
  PAYMENT_PENDING: ['PAID', 'PAYMENT_FAILED'],
  PAYMENT_FAILED: [],
  PAID: ['FULFILLING', 'PAYMENT_PENDING'],
  FULFILLING: ['FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED'],
  FULFILLED: [],
  FULFILLMENT_FAILED: [],
  EXPIRED: [],
} as const satisfies Record<State, readonly State[]>

/** What an order in state `S` may be after one step: still `S`, or one legal move further. */
export type Next<S extends State> = In<S | (typeof moves)[S][number]>

/** The published refund states. They belong to the payment. */
type RefundState = 'REFUND_PENDING' | 'REFUNDED' | 'REFUND_FAILED'

export function isRefunding(order: Order): order is Refunding {
  return order.state === 'FULFILLMENT_FAILED' || order.state === 'EXPIRED'
}

export function isPaid(order: Order): order is PaidOrder {
  return 'receipt' in order && order.settlement !== 'LOST'
}

/** Null where no refund is under way (x402-signals 6.3). */
export function refundStateOf(order: Order): RefundState | null {
  if (!isRefunding(order)) return null
  if (order.payout?.state === 'CONFIRMED') return 'REFUNDED'
  return order.payout?.state === 'FAILED' ? 'REFUND_FAILED' : 'REFUND_PENDING'
}

export function payoutStateOf({ payout }: Refunding): PayoutState | 'WAITING' {
  return payout?.state ?? 'WAITING'
}

export function isUnderWay({ state }: Order): boolean {
  return state === 'PAYMENT_PENDING' || state === 'PAID' || state === 'FULFILLING'
}

/** Whether the store has nothing left to do by itself. */
export function isFinished(order: Order): boolean {
  switch (order.state) {
    case 'PAYMENT_FAILED':
      return true
    case 'FULFILLED':
      return order.settlement !== 'SEEN'
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return refundStateOf(order) !== 'REFUND_PENDING' && order.supply.state !== 'OPEN'
    default:
      return false
  }
}

/** Undefined if it has the acceptance already, was never at the supplier, or has nothing left to do. */
export function acceptedOrder<T extends Order>(order: T, now: Date): T | undefined {
  const isOpen = order.state === 'FULFILLING' || (isRefunding(order) && !isFinished(order))
  return isOpen && order.acceptedAt === undefined ? { ...order, acceptedAt: now } : undefined
}

export function withAcceptance<T extends Order>(order: T, now: Date): T {
  return acceptedOrder(order, now) ?? order
}

/** How soon and how often a seen payment is checked: a dropped one can then be sent again within its 300 s. */
export const paymentWatchMs = 60_000

/** For how many milliseconds nobody has to work on an order that has just become this one; null: its worker goes on. */
export function restOf(order: Order): number | null {
  const isDelivered = order.state === 'FULFILLED' && order.settlement === 'SEEN'
  return isDelivered ? paymentWatchMs : null
}

/** Whether the buyer's money is known to have moved, as errors say it in `charged`. */
export function chargedOf(order: Order): 'no' | 'yes' | 'unknown' {
  if (order.state === 'PAYMENT_PENDING') return 'unknown'
  return order.state === 'PAYMENT_FAILED' || order.settlement === 'LOST' ? 'no' : 'yes'
}

/**
 * Derived from the payment with a secret of the store: nobody can guess them, and an order whose record was lost is
 * opened again under the same ids, which find its purchase and its refund.
 */
export function idsFor(
  { of }: Pick<Digest, 'of'>,
  payment: Pick<Payment, 'network' | 'asset' | 'payer' | 'nonce'>,
): { readonly id: OrderId; readonly paymentId: PaymentId } {
  const key = paymentKeyOf(payment)
  return { id: orderIdOf(of(`order:${key}`)), paymentId: paymentIdOf(of(`payment:${key}`)) }
}

/** The supplier's idempotency key: alphanumeric, and one for the whole life of the order. */
export function supplierReferenceOf(id: OrderId): string {
  return id.replace('_', '')
}

export function orderIdOfReference(reference: string): OrderId | undefined {
  const id = reference.replace(/^ord/, 'ord_')
  return isOrderId(id) ? id : undefined
}

/** If the watch for late goods ended unheard before the refund could be paid, it starts again once that is paid. */
export function withPayout(order: Refunding, payout: Payout): Refunding {
  const { refundAt: _, supply, ...rest } = order
  const isUnheard = supply.state === 'NONE' && supply.unheard
  const isWatchedAgain = payout.state === 'CONFIRMED' && isUnheard
  return { ...rest, payout, supply: isWatchedAgain ? { state: 'OPEN' } : supply }
}

/** What was received is open until it is delivered or refunded, so the entries of every order sum to zero. */
export type Account = 'received' | 'open' | 'delivered' | 'refunded'

/** One side of a double entry, in the smallest unit. Positive in `received`, negative where the money is now. */
export interface Entry<A = Account> {
  readonly account: A
  readonly amount: bigint
}

export function entriesOf(from: Order | undefined, to: Order): readonly Entry[] {
  return entriesBetween(from ? balancesOf(from) : [], balancesOf(to))
}

export function entriesBetween<A>(
  from: readonly Entry<A>[],
  to: readonly Entry<A>[],
): readonly Entry<A>[] {
  const sums = new Map<A, bigint>()
  const add = ({ account, amount }: Entry<A>, sign: bigint) =>
    sums.set(account, (sums.get(account) ?? 0n) + sign * amount)
  for (const entry of from) add(entry, -1n)
  for (const entry of to) add(entry, 1n)
  return [...sums].flatMap(([account, amount]) => (amount === 0n ? [] : [{ account, amount }]))
}

/** Where the money of an order is, in atomic USDC. A payment that vanished from the chain was never received. */
export function balancesOf(order: Order): readonly Entry[] {
  if (order.state === 'PAYMENT_PENDING' || order.state === 'PAYMENT_FAILED') return []
  if (order.settlement === 'LOST') return []
  const { amount } = order
  return [
    { account: 'received', amount },
    { account: whereabouts(order), amount: -amount },
  ]
}

function whereabouts(order: Order): Exclude<Account, 'received'> {
  if (order.state === 'FULFILLED') return 'delivered'
  return 'payout' in order && order.payout?.state === 'CONFIRMED' ? 'refunded' : 'open'
}
