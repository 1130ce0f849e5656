import type { Kind } from '../../catalog/offer.ts'
import { type Checkout, isInvoiced } from '../../checkouts/checkout.ts'
import type { CheckoutStore } from '../../checkouts/ports.ts'
import { isOrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { Proof } from '../../orders/finding.ts'
import {
  isPaid,
  isRefunding,
  isUnderWay,
  type Order,
  type PaidOrder,
  type Refunding,
  refundStateOf,
} from '../../orders/order.ts'
import { mayReveal } from '../../orders/replay.ts'
import { noteTransaction, operatorPays } from '../../payments/payment.ts'
import type { Digest, Signer } from '../../secrets/secrets.ts'
import { boughtOf, opensCheckout } from '../checkout.ts'
import type { BuyingDeps } from '../operation.ts'
import { deliveredTo, goodsOf } from '../orders/order.ts'
import { lastingIn, orderOfLinkToken, type PageCredentials, walletOfSession } from './tokens.ts'

export interface OrderTrackingDeps
  extends Pick<BuyingDeps, 'site' | 'orders' | 'purchases' | 'signIn' | 'receipts'> {
  readonly tokenSigner: Signer
  /** A keyed digest, for recovery codes. */
  readonly codes: Digest
  /** Absent if coins cannot be paid. */
  readonly checkouts?:
    | Pick<CheckoutStore, 'find' | 'findByOrder' | 'findByTransaction' | 'findByAddress'>
    | undefined
  /** The explorer's URL of transactions on the store's own chain; the hash is appended. */
  readonly explorer?: string | undefined
}

/** While it is being paid in a coin, it may exist only as a checkout. */
export async function viewOf(
  deps: OrderTrackingDeps,
  id: string,
  credentials: PageCredentials,
): Promise<OrderPageView> {
  const records = await recordsOf(deps, id)
  const placed = placedIn(deps, records)
  if (placed === undefined) throw new Refusal('order_not_found', 'There is no such order.')
  const isOwn = (await opens(deps, records, credentials)) !== false
  const isLasting = isOwn && (await opens(deps, records, lastingIn(credentials))) !== false
  return { ...pageView(deps, records, placed, isOwn), isLasting }
}

export type Records = Awaited<ReturnType<typeof recordsOf>>

export async function recordsOf(
  { orders, checkouts }: Pick<OrderTrackingDeps, 'orders' | 'checkouts'>,
  id: string,
) {
  if (!isOrderId(id)) return { order: undefined, checkout: undefined }
  const order = await orders.find(id)
  const mayBeInvoiced = order === undefined || order.payment.method === 'btcpay'
  return { order, checkout: mayBeInvoiced ? await checkouts?.findByOrder(id) : undefined }
}

export async function opens(
  deps: OrderTrackingDeps,
  { order, checkout }: Records,
  { token, wallet: sessionToken }: PageCredentials,
): Promise<Proof | false> {
  const id = order?.id ?? checkout?.orderId
  if (id !== undefined && orderOfLinkToken(deps, token) === id) return 'link'
  if (checkout && opensCheckout(deps, checkout, token)) return 'token'
  if (order === undefined) return false
  const wallet = await walletOfSession(deps, sessionToken)
  return mayReveal(deps.orders, order, { accessToken: token, wallet })
}

type Placed = NonNullable<ReturnType<typeof placedIn>>

export function placedIn(deps: OrderTrackingDeps, { order, checkout }: Records) {
  if (order !== undefined) {
    const { id: orderId, item, recipient, amount, placedAt, payment } = order
    const coin = payment.method === 'btcpay' ? payment.asset : undefined
    const stage = stageOfOrder(order)
    const network = coin ? payment.network : deps.purchases.payee.network.name
    return { orderId, item, recipient, amount, placedAt, coin, network, stage }
  }
  if (checkout === undefined) return undefined
  const { orderId, item, recipient, amount, startedAt: placedAt, coin, network } = checkout
  return { orderId, item, recipient, amount, placedAt, coin, network, stage: stageOf(checkout) }
}

export type OrderPageView = ReturnType<typeof pageView> & {
  /** Whether the visitor has shown what opens the order for good, and may be given it. */
  readonly isLasting: boolean
}

function pageView(deps: OrderTrackingDeps, records: Records, placed: Placed, isOwn: boolean) {
  const { order, checkout } = records
  const { orderId: id, item, stage, network, coin, placedAt } = placed
  return {
    ...{ id, kind: item.kind, stage, network },
    /** Undefined if USDC was paid. */
    coin,
    /** The checkout, until there is an order. */
    checkout: order ? undefined : checkout?.id,
    times: { placed: placedAt, ...(order && timesOf(order)) },
    why: order && isRefunding(order) ? order.failure.trigger : undefined,
    hasReceipt: order !== undefined && isPaid(order),
    own: isOwn ? ownView(deps, records, placed) : undefined,
    /** Changes whenever the content of the page changes; the same for all visitors. */
    version: `${order?.version ?? 0}.${checkout?.version ?? 0}`,
    isFinished: over.has(stage) && (order !== undefined || !isWatched(checkout)),
  }
}

function isWatched(checkout: Checkout | undefined): boolean {
  return checkout !== undefined && isInvoiced(checkout) && checkout.closedAt === undefined
}

export type OwnOrderView = ReturnType<typeof ownView>

function ownView(deps: OrderTrackingDeps, { order, checkout }: Records, placed: Placed) {
  const bought = boughtOf(deps.purchases, placed)
  const { credited } = order ? deliveredTo(deps.purchases.vault, order, true) : {}
  const invoiced = checkout && isInvoiced(checkout) ? checkout : undefined
  return {
    ...bought,
    receives: credited ?? bought.receives,
    amount: placed.amount,
    /** In the smallest units of the coin; undefined if USDC was paid. */
    paidUnits: order?.payment.method === 'btcpay' ? order.payment.units : undefined,
    payment:
      order && isTaken(order) ? transactionLink(deps, order, order.receipt.transaction) : undefined,
    refund: order && refundView(deps, order),
    /** The returns of the checkout: payments beyond the price. */
    returns: invoiced?.returns ?? [],
    returnTo: invoiced?.refundTo,
  }
}

/** Whether there is a payment to show. A payment that the chain dropped is none, and cannot be refunded. */
function isTaken(order: Order): order is PaidOrder {
  return 'receipt' in order && stageOfOrder(order) !== 'not_taken'
}

export type RefundView = NonNullable<ReturnType<typeof refundView>>

function refundView(deps: OrderTrackingDeps, order: Order) {
  if (!isRefunding(order) || !isTaken(order)) return undefined
  const { payout, payment, changedAt: startedAt } = order
  return {
    // The payer of a coin has the coin before the address.
    to: payment.method === 'btcpay' ? payment.payer.replace(/^[^:]*:/, '') : payment.payer,
    startedAt,
    sent:
      payout?.state === 'CONFIRMED'
        ? { ...transactionLink(deps, order, payout.transaction), at: payout.confirmedAt }
        : undefined,
    /** Why it waits for the operator. */
    stuck: payout?.state === 'FAILED' ? { code: payout.code } : undefined,
  }
}

export type TransactionLink = ReturnType<typeof transactionLink>

function transactionLink({ explorer }: OrderTrackingDeps, { payment }: Order, transaction: string) {
  const isOurs = payment.method === 'x402' && /^0x[0-9a-f]{64}$/i.test(transaction)
  return { transaction, url: isOurs && explorer ? `${explorer}${transaction}` : undefined }
}

function timesOf(order: Order) {
  const taken = isTaken(order) ? order : undefined
  const back = isRefunding(order) ? order : undefined
  return {
    paid: taken?.paidAt,
    deliverBy: taken?.deliverBy,
    delivered: order.state === 'FULFILLED' ? order.deliveredAt : undefined,
    failed: back?.changedAt,
    refunded: back?.payout?.state === 'CONFIRMED' ? back.payout.confirmedAt : undefined,
  }
}

type OrderStage =
  | 'awaiting_payment'
  | 'checking_payment'
  | 'not_paid'
  | 'not_taken'
  | 'delivering'
  | 'delivered'
  | 'refunding'
  | 'refund_by_hand'
  | 'refund_stuck'
  | 'refunded'

export function stageOfOrder(order: Order): OrderStage {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return 'checking_payment'
    case 'PAYMENT_FAILED':
      return 'not_paid'
    case 'PAID':
    case 'FULFILLING':
      return 'delivering'
    case 'FULFILLED':
      return 'delivered'
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      // The chain dropped the payment for good: there is nothing to deliver and nothing to refund.
      if (order.settlement === 'LOST' && order.payout?.state !== 'CONFIRMED') return 'not_taken'
      return refundStage(order)
  }
}

function refundStage(order: Refunding): OrderStage {
  const state = refundStateOf(order)
  if (state === 'REFUNDED') return 'refunded'
  if (state !== 'REFUND_FAILED') return 'refunding'
  const code = order.payout?.state === 'FAILED' ? order.payout.code : undefined
  // Some coins can only be paid out by hand.
  const isByHand = code === operatorPays || code === noteTransaction
  return isByHand ? 'refund_by_hand' : 'refund_stuck'
}

/** The stage before there is an order. What came for a checkout that is not paid goes back from there. */
function stageOf({ state }: Checkout): OrderStage {
  if (state === 'OPENING' || state === 'OPEN') return 'awaiting_payment'
  return state === 'ORDERED' ? 'checking_payment' : 'not_paid'
}

const over: ReadonlySet<OrderStage> = new Set(['not_paid', 'not_taken', 'delivered', 'refunded'])

export type GoodsView =
  | {
      readonly type: 'goods'
      readonly kind: Kind
      /** The delivered goods without pictures, by their published names. */
      readonly goods: Readonly<Record<string, unknown>>
    }
  /** `locked`: the visitor has not proven that the order is theirs. */
  | { readonly type: 'locked' | 'not_yet' | 'never' }

export async function goodsFor(
  deps: OrderTrackingDeps,
  id: string,
  credentials: PageCredentials,
): Promise<GoodsView> {
  const records = await recordsOf(deps, id)
  const proof = await opens(deps, records, credentials)
  if (!proof) return { type: 'locked' }
  const { order } = records
  if (order === undefined || isUnderWay(order)) return { type: 'not_yet' }
  if (order.state !== 'FULFILLED') return { type: 'never' }
  const goods = goodsOf(deps.purchases.vault, order)
  deps.receipts.noteShown(order.id, proof)
  return { type: 'goods', kind: order.item.kind, goods }
}
