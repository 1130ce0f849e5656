import type { Kind } from '../../catalog/offer.ts'
import {
  described,
  invalidParameter,
  type Param,
  pageOf,
  paging,
  readParams,
  text,
} from '../../catalog/search/params.ts'
import type { Page } from '../../catalog/search/search-index.ts'
import { isOrderId, isPaymentId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { isUnderWay, type Order, refundStateOf } from '../../orders/order.ts'
import { mayReveal } from '../../orders/replay.ts'
import { hashOf } from '../../secrets/secrets.ts'
import {
  orderId,
  ownerHeaders,
  signedInWallet,
  signInHeader,
  viewerOf,
} from '../buying/credentials.ts'
import { retryAfterSeconds } from '../buying/payment-required.ts'
import {
  type Answer,
  answers,
  type BuyingDeps,
  type Call,
  type Credentials,
  catalogPrefix,
  type OrderOperation,
  orderPath,
  refusesQuery,
  type SignInScope,
} from '../operation.ts'
import {
  OrderAnswer,
  OrderList,
  OrderStanding,
  orderBody,
  orderItem,
  publicStatusOf,
} from './order.ts'

const transactionHash: Param<string> = {
  schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
  parse: (name, value) => {
    if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
    throw invalidParameter(name, `${name} must be 0x and 64 hexadecimal digits.`)
  },
}

const pageParams = paging(100)

export const orderParams = {
  ...pageParams,
  transactionHash: described(
    transactionHash,
    'The transaction that paid. It is public: alone it tells only how the order stands',
  ),
  paymentId: described(text, 'From the answer to the purchase'),
}

export const getOrder: OrderOperation = {
  id: 'getOrder',
  method: 'GET',
  path: orderPath('{orderId}'),
  group: 'Orders',
  name: 'Order status',
  description:
    'The state of any order, for whoever knows its id. The goods only with the access token, the idempotency key of the purchase or a sign-in of the paying wallet.',
  pathParams: orderId,
  headers: ownerHeaders,
  answers: answers('The order', OrderAnswer),
  refusals: ['order_not_found', 'sign_in_invalid', 'invalid_header', 'try_again'],
  limit: 'reading',
  access: 'free',
  async run({ orderId, readCredentials }, deps) {
    return orderAnswer(await lookAtOrder(deps, { orderId }, readCredentials), deps)
  },
}

export const findOrders: OrderOperation = {
  id: 'findOrders',
  method: 'GET',
  path: `${catalogPrefix}/orders`,
  group: 'Orders',
  name: 'List orders',
  description:
    'One order by the idempotency key of its purchase alone, or by its paymentId; or where the order of a transactionHash stands, and the order itself for whoever shows that it is theirs; or the orders of the wallet that signs in, newest first.',
  query: orderParams,
  headers: ownerHeaders,
  answers: answers(
    'A page of orders, or the one order, or where it stands',
    OrderList.or(OrderAnswer).or(OrderStanding),
  ),
  refusals: [...refusesQuery, 'order_not_found', 'sign_in_invalid', 'invalid_header', 'try_again'],
  limit: 'reading',
  access: 'sign_in',
  async run(call, deps) {
    const { limit, offset, ...ids } = readParams(call.query, orderParams)
    const query = orderQuery(ids, () => call.readCredentials().idempotencyKey)
    const page = pageOf({ limit, offset })
    if (query === undefined) return listAnswer(call, deps, findOrders.path, page)
    return orderAnswer(await lookAtOrder(deps, query, call.readCredentials), deps)
  },
}

export const listEsimOrders: OrderOperation = {
  id: 'listEsimOrders',
  method: 'GET',
  path: `${catalogPrefix}/esims/orders/info`,
  group: 'Orders',
  name: 'List eSIM orders',
  description: 'The eSIM orders of the wallet that signs in, newest first.',
  query: pageParams,
  headers: signInHeader,
  answers: answers('A page of orders', OrderList),
  refusals: [...refusesQuery, 'sign_in_invalid', 'try_again'],
  limit: 'reading',
  access: 'sign_in',
  run(call, deps) {
    const page = pageOf(readParams(call.query, pageParams))
    return listAnswer(call, deps, listEsimOrders.path, { ...page, kind: 'esim' })
  },
}

async function orderAnswer(
  { waits, isPublic, ...view }: FoundOrder,
  { receipts }: BuyingDeps,
): Promise<Answer> {
  const headers = waits ? { 'retry-after': String(retryAfterSeconds) } : {}
  const body = isPublic ? publicStatusOf(view.order, 'hash') : await orderBody(receipts, view)
  return { headers, body }
}

async function listAnswer(
  { signIn }: Call,
  deps: BuyingDeps,
  path: string,
  page: OrderPage,
): Promise<Answer> {
  const scope = ordersScope(path)
  const body = await listOwnOrders(deps, signIn, page)
  return body === undefined ? { signIn: scope } : { body }
}

type OrderQuery = Readonly<
  Partial<Record<'orderId' | 'transactionHash' | 'paymentId' | 'key', string | undefined>>
>

/** The key of a call finds an order only if nothing else does. Undefined if nothing names one. */
export function orderQuery(
  ids: Omit<OrderQuery, 'key'>,
  keyIn: () => string | undefined,
): OrderQuery | undefined {
  if (Object.values(ids).some((id) => id !== undefined)) return ids
  const key = keyIn()
  return key === undefined ? undefined : { key }
}

type FoundOrder = Awaited<ReturnType<typeof lookAtOrder>>

export async function lookAtOrder(
  deps: Pick<BuyingDeps, 'orders' | 'signIn'>,
  query: OrderQuery,
  readCredentials: () => Credentials,
) {
  const order = await findByQuery(deps, query)
  const reveal = await mayReveal(deps.orders, order, await viewerOf(deps, readCredentials()))
  return {
    order,
    reveal,
    isPublic: !reveal && (query.orderId ?? query.paymentId) === undefined,
    waits: isUnderWay(order) || refundStateOf(order) === 'REFUND_PENDING',
  }
}

export async function findOrder(
  { orders }: Pick<BuyingDeps, 'orders'>,
  id: string,
): Promise<Order> {
  const order = isOrderId(id) ? await orders.find(id) : undefined
  if (order === undefined) throw orderNotFound()
  return order
}

export function ordersScope(path: string): SignInScope {
  return {
    path,
    description: 'Orders of the wallet that signs in',
    statement: 'Show the orders that this wallet paid for.',
  }
}

type OrderPage = Page & { readonly kind?: Kind }

/** Undefined without a sign-in. @throws Refusal `sign_in_invalid` */
export async function listOwnOrders(
  deps: BuyingDeps,
  signIn: Credentials['signIn'],
  page: OrderPage,
) {
  const wallet = await signedInWallet(deps.signIn, signIn)
  return wallet === undefined ? undefined : listOrders(deps, wallet, page)
}

export async function listOrders(
  { orders }: Pick<BuyingDeps, 'orders'>,
  wallet: string,
  page: OrderPage,
) {
  const { total, items } = await orders.listByPayer(wallet, page)
  const { limit, offset } = page
  return { total, limit, offset, items: items.map(orderItem) }
}

/** The order of the id, whatever else is named; the order with both, where a transaction and a payment id are given. @throws Refusal `order_not_found` */
async function findByQuery(
  { orders }: Pick<BuyingDeps, 'orders'>,
  { orderId, transactionHash: hash, paymentId: id, key }: OrderQuery,
): Promise<Order> {
  if (orderId !== undefined) return findOrder({ orders }, orderId)
  const byKey = key === undefined ? undefined : await orders.findOnlyByKey(hashOf(key))
  if (byKey) return byKey
  const byHash = hash === undefined ? undefined : await orders.findByTransaction(hash)
  const byId = id && isPaymentId(id) ? await orders.findByPaymentId(id) : undefined
  const agree = hash === undefined || id === undefined || byHash?.id === byId?.id
  const order = id === undefined ? byHash : byId
  if (order === undefined || !agree) throw orderNotFound()
  return order
}

function orderNotFound(): Refusal {
  return new Refusal('order_not_found', 'There is no such order.')
}
