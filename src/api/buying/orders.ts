import type { Kind } from '../../catalog/offer.ts'
import { isOrderId, isPaymentId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { mayReveal } from '../../orders/access.ts'
import { isUnderWay, type Order, refundStateOf } from '../../orders/order.ts'
import { orderItem } from '../views/order.ts'
import type { BuyingDeps, FaultLog } from './deps.ts'
import { listToken, listTokenHours, walletOfListToken } from './list-token.ts'
import { orNotNow } from './or-not-now.ts'
import { isSignedFor, type SignInAsk, signedInWallet } from './sign-in.ts'
import { type Credentials, viewerOf } from './viewer.ts'

/** What names one order: its id, or what is known of its payment. */
export type OrderQuery =
  | { readonly orderId: string }
  | { readonly transactionHash?: string | undefined; readonly paymentId?: string | undefined }

/** An order for whoever asks about it. */
export interface FoundOrder {
  readonly order: Order
  /** Whether whoever asks has shown that the goods are theirs. */
  readonly reveal: boolean
  /** Whether it was found by nothing but what the chain tells everybody, and nothing was shown. */
  readonly isPublic: boolean
  /** Whether looking again later is worth it. */
  readonly waits: boolean
}

/**
 * The order that is sought, and how much of it the asker may see.
 *
 * @throws Refusal `order_not_found`, `invalid_header`, `sign_in_invalid`, `try_again`
 */
export async function lookAtOrder(
  deps: Pick<BuyingDeps, 'orders' | 'signIn'>,
  query: OrderQuery,
  shown: () => Credentials,
  log: FaultLog,
): Promise<FoundOrder> {
  const { order, reveal } = await orNotNow(log, async () => {
    const order = await find(deps, query)
    return { order, reveal: await mayReveal(deps.orders, order, await viewerOf(deps, shown())) }
  })
  const waits = isUnderWay(order) || refundStateOf(order) === 'REFUND_PENDING'
  const isPublic = !reveal && !('orderId' in query) && query.paymentId === undefined
  return { order, reveal, isPublic, waits }
}

/** @throws Refusal `order_not_found`, the same for an id that never was and one that is not yours */
export async function findOrder(
  { orders }: Pick<BuyingDeps, 'orders'>,
  id: string,
): Promise<Order> {
  const order = isOrderId(id) ? await orders.find(id) : undefined
  if (order === undefined) throw notFound()
  return order
}

/** What a wallet signs to see its orders, at the path where it asks for them. */
export function ordersAsk(path: string): SignInAsk {
  return {
    path,
    description: 'Orders of the wallet that signs in',
    statement: 'Show the orders that this wallet paid for.',
  }
}

/** The same, and a token with which the wallet need not sign again for a while. */
export function listAsk(path: string): SignInAsk {
  const hours = `${listTokenHours} hours`
  const statement = `Show the orders that this wallet paid for, and give a token that lists them for ${hours}.`
  return { ...ordersAsk(path), statement }
}

interface OrderPage {
  readonly limit: number
  readonly offset: number
  readonly kind?: Kind | undefined
}

/**
 * A page of orders for the wallet that signs in, or whose list token is shown; undefined if neither is.
 * A token comes only with a sign-in whose statement says so, never with another token: otherwise a
 * leaked one could be renewed for ever.
 *
 * @param ask what the challenge at this place says
 * @throws Refusal `sign_in_invalid`, `try_again`
 */
export async function listOwnOrders(
  deps: BuyingDeps,
  { signIn, accessToken }: Pick<Credentials, 'signIn' | 'accessToken'>,
  ask: SignInAsk,
  page: OrderPage,
  log: FaultLog,
) {
  const signedIn = await orNotNow(log, () => signedInWallet(deps.signIn, signIn))
  const wallet = signedIn ?? walletOfListToken(deps, accessToken)
  if (wallet === undefined) return undefined
  const list = await listOrders(deps, wallet, page, log)
  const isGiven = signedIn !== undefined && isSignedFor(deps.signIn, signIn, ask)
  return isGiven ? { ...list, listToken: listToken(deps, wallet) } : list
}

/** A page of the orders that this wallet paid for, newest first. @throws Refusal `try_again` */
export async function listOrders(
  { orders }: Pick<BuyingDeps, 'orders'>,
  wallet: string,
  page: OrderPage,
  log: FaultLog,
) {
  const { kind, ...shown } = page
  const asked = { ...shown, ...(kind === undefined ? {} : { kind }) }
  const { total, items } = await orNotNow(log, () => orders.listByPayer(wallet, asked))
  return { total, ...shown, items: items.map(orderItem) }
}

function find(deps: Pick<BuyingDeps, 'orders'>, query: OrderQuery): Promise<Order> {
  return 'orderId' in query
    ? findOrder(deps, query.orderId)
    : lookUp(deps, query.transactionHash, query.paymentId)
}

async function lookUp(
  { orders }: Pick<BuyingDeps, 'orders'>,
  hash?: string,
  paymentId?: string,
): Promise<Order> {
  const byHash = hash === undefined ? undefined : await orders.findByTransaction(hash)
  if (paymentId === undefined) return byHash ?? throwNotFound()
  const byId = isPaymentId(paymentId) ? await orders.findByPaymentId(paymentId) : undefined
  const agree = hash === undefined || byHash?.id === byId?.id
  return byId && agree ? byId : throwNotFound()
}

function notFound(): Refusal {
  return new Refusal('order_not_found', 'There is no such order.')
}

function throwNotFound(): never {
  throw notFound()
}
