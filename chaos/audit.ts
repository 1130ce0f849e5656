import { keccak256, toBytes } from 'viem'

export interface Finding {
  readonly wrong: Wrong
  /** The id of the order; without an order, the payment, the purchase or the part. */
  readonly subject: string
  readonly why: string
}

/** The facts, indexed by order. */
interface Book extends Facts {
  readonly orderById: ReadonlyMap<string, OrderRow>
  readonly ordersByPayment: ReadonlyMap<string, readonly OrderRow[]>
  readonly suppliedFor: ReadonlyMap<string, readonly Supplied[]>
  readonly refundsOf: ReadonlyMap<string, readonly Transfer[]>
  readonly shownFor: ReadonlyMap<string, readonly string[]>
}

const chainId = 84_532

type Found = readonly (readonly [subject: string, why: unknown])[]

/** All kinds of findings. The first five would break the store's promise; the others must not happen either. */
const rules = {
  lost: (book) => [...lostPayments(book), ...lostOrders(book)],
  'delivered and refunded': ({ orders, refundsOf, shownFor }) =>
    orders
      .filter(({ id, state }) => refundsOf.has(id) && (state === 'FULFILLED' || shownFor.has(id)))
      .map(({ id }) => [id, `refund ${textOf(refundsOf.get(id))} and goods`]),
  'charged twice': chargedTwice,
  'refunded twice': refundedTwice,
  'supplier charged twice': suppliedTwice,
  open: ({ orders, seen }) => [
    ...orders
      .filter((order) => !isSettled(order))
      .map(({ id, state, refundState }) => [id, `${state}, refund ${refundState}`] as const),
    ...seen
      .filter(({ ending }) => ending === 'not told')
      .map((one) => [subjectOf(one), `${one.purchase} was never told how it ended`] as const),
  ],
  'wrong refund': wrongRefunds,
  'goods without payment': unpaidGoods,
  'wrong goods': wrongGoods,
  /** A payment that landed must never have been answered with a 402. */
  'asked to pay again': ({ payments, seen }) => {
    const landed = new Set(payments.map(nameOf))
    return seen.flatMap((one) =>
      one.refused
        .filter(({ nonce }) => landed.has(nameOf({ from: one.payer, nonce })))
        .map(({ nonce, answer }) => [subjectOf(one), `payment ${nonce}: ${answer}`] as const),
    )
  },
  'bad answer': ({ seen }) =>
    seen.flatMap((one) => one.unexpected.map((answer) => [subjectOf(one), answer] as const)),
  /** Goods that come after a refund are a loss, which the store must have recorded or still be looking for. */
  'loss nobody sees': ({ orders, suppliedFor }) =>
    orders
      .filter(({ id, supply }) => supply === 'NONE' && isDelivered(suppliedFor.get(id)))
      .map(({ id }) => [id, 'the supplier delivered, the store knows none']),
  'node ended by itself': (book) => book.endedAlone.map((said) => ['node', said]),
  'paused by an attacker': ({ pauses, seen, calmUntil }) => [
    ...pauses.map((said) => ['node', said] as const),
    ...seen
      .filter(({ pausedAt }) => pausedAt.some((at) => at < calmUntil))
      .map(({ purchase }) => [purchase, 'its buyer heard that the store is paused'] as const),
  ],
  /** A run without an order has nothing that could have gone wrong. */
  'nothing bought': ({ orders }) => (orders.length > 0 ? [] : [['store', 'there is no order']]),
} as const satisfies Readonly<Record<string, (book: Book) => Found>>

type Wrong = keyof typeof rules
export const wrongs = Object.keys(rules) as Wrong[]

/** Compares the four sides. Uses none of the store's code. */
export function audit(facts: Facts): readonly Finding[] {
  const book = bookOf(facts)
  return wrongs.flatMap((wrong) =>
    rules[wrong](book).map(([subject, why]) => ({ wrong, subject, why: textOf(why) })),
  )
}

/** Everything that the four sides know about one order, for finding the cause. */
export function factsAbout(facts: Facts, orderId: string): readonly string[] {
  const book = bookOf(facts)
  const order = book.orderById.get(orderId)
  const payments = facts.payments.filter(({ transaction }) => transaction === order?.transaction)
  const sides: readonly (readonly [string, unknown])[] = [
    ['database', order],
    ['payment on the chain', payments],
    ['refund on the chain', book.refundsOf.get(orderId) ?? []],
    ['supplier', book.suppliedFor.get(orderId) ?? []],
    ['buyer', facts.seen.filter(({ orderIds }) => orderIds.includes(orderId))],
  ]
  return sides.map(([side, told]) => `${side}: ${textOf(told)}`)
}

function isSettled({ state, refundState }: OrderRow): boolean {
  return state === 'FULFILLED' || state === 'PAYMENT_FAILED' || refundState === 'REFUNDED'
}

/** The order of a purchase; without one, the purchase itself. */
function subjectOf({ orderIds, purchase }: Seen): string {
  return orderIds[0] ?? purchase
}

function lostPayments({ payments, ordersByPayment }: Book): Found {
  return payments
    .filter(({ transaction }) => !ordersByPayment.has(transaction))
    .map((payment) => [payment.transaction, `no order has ${textOf(payment)}`])
}

/** Orders that read delivered or refunded, without a delivery at the supplier or a refund on the chain. */
function lostOrders({ orders, suppliedFor, refundsOf }: Book): Found {
  return orders.flatMap(({ id, state, refundState }) => {
    if (state === 'FULFILLED' && !isDelivered(suppliedFor.get(id))) {
      return [[id, 'it reads FULFILLED, and the supplier has not delivered']]
    }
    if (refundState === 'REFUNDED' && !refundsOf.has(id)) {
      return [[id, 'it reads REFUNDED, and the chain has no such refund']]
    }
    return []
  })
}

/** A purchase is charged once, however many payments were signed for it under its idempotency key. */
function chargedTwice({ payments, seen }: Book): Found {
  const landed = groupBy(payments, nameOf)
  const samePurchase = seen.flatMap((one) => {
    const { payer, nonces, purchase } = one
    const charges = nonces.filter((nonce) => landed.has(nameOf({ from: payer, nonce })))
    const why = `${purchase} was charged by ${charges.join(' and ')}`
    return charges.length > 1 ? [[subjectOf(one), why] as const] : []
  })
  return [...[...landed].filter(([, transfers]) => transfers.length > 1), ...samePurchase]
}

function refundedTwice({ refunds, refundsOf, orders }: Book): Found {
  const known = new Set([...refundsOf.values()].flat())
  const payers = new Set(orders.map(({ payer }) => payer))
  const strays = refunds.filter((refund) => !known.has(refund) && payers.has(refund.to))
  return [
    ...[...refundsOf].filter(([, transfers]) => transfers.length > 1),
    ...strays.map((one) => [one.transaction, `no order asked for ${textOf(one)}`] as const),
  ]
}

/** The supplier charges once per reference, so the store is charged twice only if it uses a second one. */
function suppliedTwice({ supplied, suppliedFor, orderById, ordersByPayment }: Book): Found {
  const orders = [...suppliedFor].filter(
    ([id, all]) => orderById.has(id) && (all.length > 1 || all.some(isOvercharged)),
  )
  const known = new Set([...orderById.keys()].map(referenceOf))
  const strays = supplied.filter(
    ({ transactionId, charged }) => charged > 0 && !known.has(transactionId),
  )
  const shared = [...ordersByPayment].filter(
    ([, all]) => all.filter(({ id }) => isDelivered(suppliedFor.get(id))).length > 1,
  )
  return [
    ...orders,
    ...strays.map((stray) => [stray.transactionId, stray] as const),
    ...shared.map(([transaction, all]) => [transaction, all.map(({ id }) => id)] as const),
  ]
}

function wrongRefunds({ orders, refunds, refundsOf }: Book): Found {
  const payers = new Set(orders.map(({ payer }) => payer))
  const wrong = orders.flatMap(({ id, payer, amount }) =>
    (refundsOf.get(id) ?? [])
      .filter(({ to, value }) => to !== payer || value !== amount)
      .map((refund) => [id, `${amount} of ${payer}: ${textOf(refund)}`] as const),
  )
  const strangers = refunds.filter(({ to }) => !payers.has(to))
  return [...wrong, ...strangers.map((refund) => [refund.transaction, refund] as const)]
}

/** Goods may be bought only after a payment of the order's payer and amount. */
function unpaidGoods({ orders, payments, suppliedFor }: Book): Found {
  const byTransaction = groupBy(payments, ({ transaction }) => transaction)
  return orders
    .filter(({ id, state }) => state === 'FULFILLED' || isDelivered(suppliedFor.get(id)))
    .filter(({ transaction, payer, amount }) => {
      const paid = byTransaction.get(transaction ?? '') ?? []
      return !paid.some(({ from, value }) => from === payer && value === amount)
    })
    .map(({ id }) => [id, 'the chain has no payment for it'])
}

function wrongGoods({ seen, orderById, suppliedFor }: Book): Found {
  return seen.flatMap((one) => {
    const { purchase, payer, goods, orderIds } = one
    const foreign = orderIds.filter((id) => orderById.get(id)?.payer !== payer)
    const others = goods.filter(({ orderId, result }) => !areOf(suppliedFor.get(orderId), result))
    const several = orderIds.length > 1 ? [`${purchase} was given ${orderIds.join(' and ')}`] : []
    return [
      ...foreign.map((id) => [id, `${purchase} of ${payer} was shown this order`] as const),
      ...several.map((why) => [subjectOf(one), why] as const),
      ...others.map(({ orderId, result }) => [orderId, `${purchase} got ${result}`] as const),
    ]
  })
}

function bookOf(facts: Facts): Book {
  const { orders, supplied, refunds, seen } = facts
  const paid = orders.filter(({ transaction }) => transaction !== null)
  const orderOfReference = new Map(orders.map(({ id }) => [referenceOf(id), id]))
  const orderOfRefund = new Map(orders.map(({ id, refundTransaction }) => [refundTransaction, id]))
  const orderOfNonce = new Map(orders.map(({ id }) => [refundNonceOf(id), id]))
  const refundedOrder = ({ transaction, nonce }: Transfer) =>
    orderOfRefund.get(transaction) ?? orderOfNonce.get(nonce ?? '') ?? ''
  const attributed = refunds.filter((refund) => refundedOrder(refund) !== '')
  const shown = groupBy(
    seen.flatMap(({ goods }) => goods),
    ({ orderId }) => orderId,
  )
  return {
    ...facts,
    orderById: new Map(orders.map((order) => [order.id, order])),
    ordersByPayment: groupBy(paid, ({ transaction }) => transaction ?? ''),
    suppliedFor: groupBy(
      supplied,
      ({ transactionId }) => orderOfReference.get(transactionId) ?? transactionId,
    ),
    refundsOf: groupBy(attributed, refundedOrder),
    shownFor: new Map([...shown].map(([id, all]) => [id, all.map(({ result }) => result)])),
  }
}

/** The reference of an order at the supplier. */
function referenceOf(orderId: string): string {
  return orderId.replace('_', '')
}

/** The only nonce that the refund of an order can have (docs/contributors/decisions/002). */
function refundNonceOf(orderId: string): string {
  return keccak256(toBytes(`refund:v1|${chainId}|${orderId}`))
}

function isDelivered(supplied: readonly Supplied[] | undefined): boolean {
  return supplied?.some(({ status, deliveries }) => status === 'DONE' && deliveries > 0) ?? false
}

function isOvercharged({ charged, cost, deliveries }: Supplied): boolean {
  return charged > cost || deliveries > 1
}

/** Whether the goods of a buyer contain all secrets that the supplier issued. A topup has none to compare. */
function areOf(supplied: readonly Supplied[] | undefined, result: string): boolean {
  if (!isDelivered(supplied)) return false
  const secrets = supplied?.flatMap((one) => one.secrets) ?? []
  return secrets.every((secret) => result.includes(JSON.stringify(secret)))
}

/** The name of a payment: a payer can use a nonce only once (EIP-3009). */
function nameOf({ from, nonce }: Pick<Transfer, 'from' | 'nonce'>): string {
  return `${from}:${nonce}`
}

function groupBy<T>(
  all: readonly T[],
  keyOf: (one: T) => string,
): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(all, keyOf)
}

function textOf(told: unknown): string {
  if (typeof told === 'string') return told
  return JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}

/** A transfer of USDC, with the authorization that it carried out according to the token; or one of a coin. */
export interface Transfer {
  readonly transaction: string
  readonly from: string
  readonly to: string
  /** Atomic units, smallest ones of a coin. */
  readonly value: bigint
  /** Undefined if no `AuthorizationUsed` precedes it. Of a coin: the address that was paid. */
  readonly nonce: string | undefined
}

/** One purchase in the supplier's own ledger. Money in US cents. */
export interface Supplied {
  readonly transactionId: string
  readonly status: string
  readonly cost: number
  readonly charged: number
  readonly refunded: number
  readonly deliveries: number
  readonly secrets: readonly string[]
}

/** An order in the database, or a checkout that was paid too little or too late to become one. */
export interface OrderRow {
  readonly id: string
  readonly state: string
  readonly refundState: string | null
  readonly payer: string
  readonly amount: bigint
  readonly transaction: string | null
  readonly refundTransaction: string | null
  /** The state of the supplier's side of an order that failed or expired: whether goods may still come. */
  readonly supply: string | null
  /** Its events, the oldest first. */
  readonly events: readonly string[]
}

/** One purchase as its buyer saw it. */
export interface Seen {
  readonly purchase: string
  readonly payer: string
  /** The nonces of its signed payments; more than one only under the same idempotency key. */
  readonly nonces: readonly string[]
  readonly orderIds: readonly string[]
  readonly goods: readonly { readonly orderId: string; readonly result: string }[]
  /** Orders that the store reported as refunded. */
  readonly refunded: readonly string[]
  /** Payments that were answered with 402. */
  readonly refused: readonly { readonly nonce: string; readonly answer: string }[]
  /** Answers that a running store must not give. */
  readonly unexpected: readonly string[]
  /** The numbers of calls without an answer, and of calls that were put off with 503 or 408. */
  readonly unanswered: number
  readonly putOff: number
  /** When the store answered `store_paused`; epoch milliseconds. */
  readonly pausedAt: readonly number[]
  readonly ending: 'delivered' | 'refunded' | 'unpaid' | 'left' | 'not told'
}

/** Everything that is known of a run, from four independent sides. */
export interface Facts {
  readonly payments: readonly Transfer[]
  readonly refunds: readonly Transfer[]
  readonly supplied: readonly Supplied[]
  readonly orders: readonly OrderRow[]
  readonly seen: readonly Seen[]
  /** Nodes that ended without being killed, with their exit code or signal. */
  readonly endedAlone: readonly string[]
  /** Looks at which a node did not sell, while only attackers and buyers were active. */
  readonly pauses: readonly string[]
  /** Until when there were no kills and no faults; epoch milliseconds, 0 without attackers. */
  readonly calmUntil: number
}
