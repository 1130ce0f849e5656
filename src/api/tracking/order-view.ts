import type { Kind } from '../../catalog/offer.ts'
import { type Checkout, isInvoiced, type Return } from '../../checkouts/checkout.ts'
import type { CheckoutStore } from '../../checkouts/ports.ts'
import { type CheckoutId, isOrderId, type OrderId } from '../../lib/ids.ts'
import type { Usdc } from '../../lib/money.ts'
import { Refusal } from '../../lib/refusal.ts'
import {
  type Failure,
  isPaid,
  isRefunding,
  isUnderWay,
  type Order,
  type PaidOrder,
  type Refunding,
  refundStateOf,
} from '../../orders/order.ts'
import { mayReveal } from '../../orders/replay.ts'
import type { Coin } from '../../payments/coins.ts'
import { noteTransaction, operatorPays } from '../../payments/pay-back-faults.ts'
import { payeeOn } from '../../payments/terms.ts'
import type { Digest, Signer } from '../../secrets/secrets.ts'
import { type Bought, boughtOf } from '../bought.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import { opensCheckout } from '../checkout.ts'
import type { BuyingDeps, FaultLog } from '../deps.ts'
import { goodsOf } from '../orders/order.ts'
import { orderOfLinkToken, type PageCredentials, walletOfSession } from './tokens.ts'

/** A transaction, with its URL at an explorer. */
export interface Seen {
  readonly transaction: string
  readonly url?: string | undefined
}

/** The refund of the price. */
export interface RefundView {
  readonly to: string
  readonly startedAt: Date
  readonly sent?: (Seen & { readonly at: Date }) | undefined
  /** Why it waits for the operator; absent if it does not. */
  readonly stuck?: { readonly code: string } | undefined
}

/** The part that only the buyer sees. It does not contain the goods, which are requested separately. */
export interface OwnOrderView extends Bought {
  readonly amount: Usdc
  /** The amount paid in a coin, in its smallest units; absent if USDC was paid. */
  readonly paidUnits?: bigint | undefined
  readonly payment?: Seen | undefined
  readonly refund?: RefundView | undefined
  /** The returns of the checkout: payments beyond the price. */
  readonly returns: readonly Return[]
  readonly returnTo?: string | undefined
}

/** An order as its page shows it. */
export interface OrderPageView {
  readonly id: OrderId
  readonly kind: Kind
  readonly stage: OrderStage
  readonly network: string
  /** Absent if USDC was paid. */
  readonly coin?: Coin | undefined
  /** The checkout, until there is an order. */
  readonly checkout?: CheckoutId | undefined
  readonly times: {
    readonly placed: Date
    readonly paid?: Date | undefined
    readonly deliverBy?: Date | undefined
    readonly delivered?: Date | undefined
    readonly failed?: Date | undefined
    readonly refunded?: Date | undefined
  }
  readonly why?: Failure['trigger'] | undefined
  readonly hasReceipt: boolean
  /** Absent for everyone else. */
  readonly own?: OwnOrderView | undefined
  /** Changes whenever the content of the page changes; the same for all visitors. */
  readonly version: string
  readonly isFinished: boolean
}

/**
 * An order as a visitor sees it. While it is being paid in a coin, it may exist only as a checkout.
 *
 * @throws Refusal `order_not_found`, `try_again`
 */
export async function viewOf(
  deps: OrderTrackingDeps,
  id: string,
  credentials: PageCredentials,
  log: FaultLog,
): Promise<OrderPageView> {
  return orNotNow(log, async () => {
    const { order, checkout } = await recordsOf(deps, id)
    const isOwn = await opens(deps, { order, checkout }, credentials)
    if (order) return orderView(deps, order, checkout, isOwn)
    if (checkout) return checkoutView(deps, checkout, isOwn)
    throw new Refusal('order_not_found', 'There is no such order.')
  })
}

export interface Records {
  readonly order: Order | undefined
  readonly checkout: Checkout | undefined
}

/** The records with the id of an order. */
export async function recordsOf(
  { orders, checkouts }: OrderTrackingDeps,
  id: string,
): Promise<Records> {
  if (!isOrderId(id)) return { order: undefined, checkout: undefined }
  const order = await orders.find(id)
  const mayBeInvoiced = order === undefined || order.payment.method === 'btcpay'
  return { order, checkout: mayBeInvoiced ? await checkouts?.findByOrder(id) : undefined }
}

/** Whether these credentials open this order. */
export async function opens(
  deps: OrderTrackingDeps,
  { order, checkout }: Records,
  { token, wallet: sessionToken }: PageCredentials,
): Promise<boolean> {
  if (checkout && opensCheckout(deps, checkout, token)) return true
  if (order && orderOfLinkToken(deps, token) === order.id) return true
  const viewer = { accessToken: token, wallet: walletOfSession(deps, sessionToken) }
  return order !== undefined && mayReveal(deps.orders, order, viewer)
}

/** The name of the network for people; the id of a network that the store no longer uses. */
function networkName(
  { purchases }: OrderTrackingDeps,
  { method, network }: Order['payment'],
): string {
  if (method === 'btcpay') return network
  return payeeOn(purchases.payees, network)?.network.name ?? network
}

function orderView(
  deps: OrderTrackingDeps,
  order: Order,
  checkout: Checkout | undefined,
  isOwn: boolean,
): OrderPageView {
  const { id, item, payment } = order
  const stage = stageOfOrder(order)
  return {
    id,
    kind: item.kind,
    stage,
    network: networkName(deps, payment),
    coin: payment.method === 'btcpay' ? payment.asset : undefined,
    times: timesOf(order),
    why: isRefunding(order) ? order.failure.trigger : undefined,
    hasReceipt: isPaid(order),
    own: isOwn ? ownView(deps, order, checkout) : undefined,
    version: `${order.version}.${checkout?.version ?? 0}`,
    isFinished: over.has(stage),
  }
}

function ownView(
  deps: OrderTrackingDeps,
  order: Order,
  checkout: Checkout | undefined,
): OwnOrderView {
  const { id, item, recipient, payment, amount } = order
  const bought = boughtOf(deps.purchases, { orderId: id, item, recipient })
  return {
    ...bought,
    receives: reported(deps, order) ?? bought.receives,
    amount,
    paidUnits: payment.method === 'btcpay' ? payment.units : undefined,
    payment: isTaken(order) ? seen(deps, order, order.receipt.transaction) : undefined,
    refund: refundView(deps, order),
    ...returnsOf(checkout),
  }
}

/** Whether there is a payment to show. A payment that the chain dropped is none, and cannot be refunded. */
function isTaken(order: Order): order is PaidOrder {
  return 'receipt' in order && stageOfOrder(order) !== 'not_taken'
}

/** The credited amount that the supplier reports, which takes precedence over the estimate. */
function reported({ purchases }: OrderTrackingDeps, order: Order): Bought['receives'] {
  if (order.state !== 'FULFILLED') return undefined
  const { credited } = goodsOf(purchases.vault, order)
  if (credited === undefined) return undefined
  const { amount, currency, currencyDivisor: divisor } = credited
  return { amount, currency, divisor, isExact: true }
}

function refundView(deps: OrderTrackingDeps, order: Order): RefundView | undefined {
  if (!isRefunding(order) || !isTaken(order)) return undefined
  const { payout, payment, changedAt: startedAt } = order
  // The payer of a coin has the coin before the address.
  const to = payment.method === 'btcpay' ? payment.payer.replace(/^[^:]*:/, '') : payment.payer
  if (payout?.state === 'FAILED') return { to, startedAt, stuck: { code: payout.code } }
  if (payout?.state !== 'CONFIRMED') return { to, startedAt }
  const sent = { ...seen(deps, order, payout.transaction), at: payout.confirmedAt }
  return { to, startedAt, sent }
}

function seen({ explorer }: OrderTrackingDeps, { payment }: Order, transaction: string): Seen {
  const isOurs = payment.method === 'x402' && /^0x[0-9a-f]{64}$/i.test(transaction)
  return { transaction, url: isOurs && explorer ? `${explorer}${transaction}` : undefined }
}

function timesOf(order: Order): OrderPageView['times'] {
  const taken = isTaken(order) ? order : undefined
  const back = isRefunding(order) ? order : undefined
  return {
    placed: order.placedAt,
    paid: taken?.paidAt,
    deliverBy: taken?.deliverBy,
    delivered: order.state === 'FULFILLED' ? order.deliveredAt : undefined,
    failed: back?.changedAt,
    refunded: back?.payout?.state === 'CONFIRMED' ? back.payout.confirmedAt : undefined,
  }
}

function checkoutView(deps: OrderTrackingDeps, checkout: Checkout, isOwn: boolean): OrderPageView {
  const { item, amount } = checkout
  const stage = stageOfCheckout(checkout)
  return {
    id: checkout.orderId,
    kind: item.kind,
    stage,
    network: checkout.network,
    coin: checkout.coin,
    checkout: checkout.id,
    times: { placed: checkout.startedAt },
    hasReceipt: false,
    own: isOwn
      ? { ...boughtOf(deps.purchases, checkout), amount, ...returnsOf(checkout) }
      : undefined,
    version: `0.${checkout.version}`,
    isFinished: over.has(stage) && (!isInvoiced(checkout) || checkout.closedAt !== undefined),
  }
}

function returnsOf(checkout: Checkout | undefined): Pick<OwnOrderView, 'returns' | 'returnTo'> {
  if (checkout === undefined || !isInvoiced(checkout)) return { returns: [] }
  return { returns: checkout.returns, returnTo: checkout.refundTo }
}

/** The stage of an order, as its page shows it. */
type OrderStage =
  /** In a checkout, and not paid yet. */
  | 'awaiting_payment'
  /** It is not known yet whether it was paid. */
  | 'checking_payment'
  /** It is proven that it was not paid, or the money is returned from the checkout. */
  | 'not_paid'
  /** The chain dropped the payment for good: there is nothing to deliver and nothing to refund. */
  | 'not_taken'
  | 'delivering'
  | 'delivered'
  | 'refunding'
  /** The coin can only be paid out by hand. */
  | 'refund_by_hand'
  /** An operator must act before the money can be refunded. */
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
      if (order.settlement === 'LOST' && order.payout?.state !== 'CONFIRMED') return 'not_taken'
      return refundStage(order)
  }
}

function refundStage(order: Refunding) {
  const state = refundStateOf(order)
  if (state === 'REFUNDED') return 'refunded'
  if (state !== 'REFUND_FAILED') return 'refunding'
  const code = order.payout?.state === 'FAILED' ? order.payout.code : undefined
  const isByHand = code === operatorPays || code === noteTransaction
  return isByHand ? 'refund_by_hand' : 'refund_stuck'
}

/** The stage before there is an order. */
function stageOfCheckout({ state }: Checkout): OrderStage {
  if (state === 'OPENING' || state === 'OPEN') return 'awaiting_payment'
  return state === 'ORDERED' ? 'checking_payment' : 'not_paid'
}

/** The stages whose page never changes again. */
const over: ReadonlySet<OrderStage> = new Set(['not_paid', 'not_taken', 'delivered', 'refunded'])

/** The result of the button for the goods on the page of an order. */
export type GoodsShown =
  | {
      readonly type: 'goods'
      readonly kind: Kind
      /** The delivered goods without pictures, by their published names. */
      readonly goods: Readonly<Record<string, unknown>>
    }
  /** `locked`: the visitor has not proven that the order is theirs. */
  | { readonly type: 'locked' | 'not_yet' | 'never' }

/** The goods of an order for its buyer. @throws Refusal `try_again` */
export async function goodsFor(
  deps: OrderTrackingDeps,
  id: string,
  credentials: PageCredentials,
  log: FaultLog,
): Promise<GoodsShown> {
  return orNotNow(log, async () => {
    const records = await recordsOf(deps, id)
    if (!(await opens(deps, records, credentials))) return { type: 'locked' }
    const { order } = records
    if (order === undefined || isUnderWay(order)) return { type: 'not_yet' }
    if (order.state !== 'FULFILLED') return { type: 'never' }
    const goods = goodsOf(deps.purchases.vault, order)
    return { type: 'goods', kind: order.item.kind, goods }
  })
}

type CheckoutFinder = Pick<
  CheckoutStore,
  'find' | 'findByOrder' | 'findByTransaction' | 'findByAddress'
>

/** The dependencies of the pages that show a person the state of an order. */
export interface OrderTrackingDeps
  extends Pick<BuyingDeps, 'site' | 'orders' | 'purchases' | 'signIn' | 'receipts'> {
  /** Signs session tokens and link tokens. */
  readonly tokenSigner: Signer
  /** A keyed digest, for recovery codes. */
  readonly codes: Digest
  /** Absent if coins cannot be paid. */
  readonly checkouts?: CheckoutFinder | undefined
  /** The explorer's URL of transactions on the store's own chain; the hash is appended. */
  readonly explorer?: string | undefined
}
