import { keccak256, toBytes } from 'viem'
import type { Facts, OrderRow, Seen, Supplied, Transfer } from './facts.ts'

/** All kinds of findings. The first five would break the store's promise; the others must not happen either. */
export const wrongs = [
  'lost',
  'delivered and refunded',
  'charged twice',
  'refunded twice',
  'supplier charged twice',
  'open',
  'wrong refund',
  'goods without payment',
  'wrong goods',
  'asked to pay again',
  'bad answer',
  'loss nobody sees',
  'node ended by itself',
  'paused by an attacker',
  'nothing bought',
] as const
export type Wrong = (typeof wrongs)[number]

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

/** Compares the four sides. Uses none of the store's code. */
export function audit(facts: Facts): readonly Finding[] {
  const book = bookOf(facts)
  return [
    lostPayments,
    lostOrders,
    bothWays,
    chargedTwice,
    refundedTwice,
    suppliedTwice,
    stillOpen,
    wrongRefunds,
    unpaidGoods,
    wrongGoods,
    askedAgain,
    badAnswers,
    unseenLosses,
    endedAlone,
    pausedByAttackers,
    nothingBought,
  ].flatMap((rule) => rule(book))
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

function lostPayments({ payments, ordersByPayment }: Book): Finding[] {
  return payments
    .filter(({ transaction }) => !ordersByPayment.has(transaction))
    .map((payment) => finding('lost', payment.transaction, `no order has ${textOf(payment)}`))
}

/** Orders that read delivered or refunded, without a delivery at the supplier or a refund on the chain. */
function lostOrders({ orders, suppliedFor, refundsOf }: Book): Finding[] {
  return orders.flatMap(({ id, state, refundState }) => {
    if (state === 'FULFILLED' && !isDelivered(suppliedFor.get(id))) {
      return [finding('lost', id, 'it reads FULFILLED, and the supplier has not delivered')]
    }
    if (refundState === 'REFUNDED' && !refundsOf.has(id)) {
      return [finding('lost', id, 'it reads REFUNDED, and the chain has no such refund')]
    }
    return []
  })
}

function bothWays({ orders, refundsOf, shownFor }: Book): Finding[] {
  return orders
    .filter(({ id, state }) => refundsOf.has(id) && (state === 'FULFILLED' || shownFor.has(id)))
    .map(({ id }) =>
      finding('delivered and refunded', id, `refund ${textOf(refundsOf.get(id))} and goods`),
    )
}

/** A purchase is charged once, however many payments were signed for it under its idempotency key. */
function chargedTwice({ payments, seen }: Book): Finding[] {
  const landed = groupBy(payments, nameOf)
  const sameNonce = [...landed].filter(([, transfers]) => transfers.length > 1)
  const samePurchase = seen.flatMap(({ payer, nonces, purchase, orderIds }) => {
    const charges = nonces.filter((nonce) => landed.has(nameOf({ from: payer, nonce })))
    const subject = orderIds[0] ?? purchase
    const why = `${purchase} was charged by ${charges.join(' and ')}`
    return charges.length > 1 ? [finding('charged twice', subject, why)] : []
  })
  return [
    ...sameNonce.map(([name, all]) => finding('charged twice', name, textOf(all))),
    ...samePurchase,
  ]
}

function refundedTwice({ refunds, refundsOf, orders }: Book): Finding[] {
  const more = [...refundsOf].filter(([, transfers]) => transfers.length > 1)
  const known = new Set([...refundsOf.values()].flat())
  const payers = new Set(orders.map(({ payer }) => payer))
  const strays = refunds.filter((refund) => !known.has(refund) && payers.has(refund.to))
  return [
    ...more.map(([id, transfers]) => finding('refunded twice', id, textOf(transfers))),
    ...strays.map((refund) =>
      finding('refunded twice', refund.transaction, `no order asked for ${textOf(refund)}`),
    ),
  ]
}

/** The supplier charges once per reference, so the store is charged twice only if it uses a second one. */
function suppliedTwice({ supplied, suppliedFor, orderById, ordersByPayment }: Book): Finding[] {
  const twice = (subject: string, why: unknown) =>
    finding('supplier charged twice', subject, textOf(why))
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
    ...orders.map(([id, all]) => twice(id, all)),
    ...strays.map((stray) => twice(stray.transactionId, stray)),
    ...shared.map(([transaction, all]) =>
      twice(
        transaction,
        all.map(({ id }) => id),
      ),
    ),
  ]
}

function stillOpen({ orders, seen }: Book): Finding[] {
  return [
    ...orders
      .filter((order) => !isSettled(order))
      .map(({ id, state, refundState }) => finding('open', id, `${state}, refund ${refundState}`)),
    ...seen
      .filter(({ ending }) => ending === 'not told')
      .map(({ purchase, orderIds }) =>
        finding('open', orderIds[0] ?? purchase, `${purchase} was never told how it ended`),
      ),
  ]
}

function wrongRefunds({ orders, refunds, refundsOf }: Book): Finding[] {
  const payers = new Set(orders.map(({ payer }) => payer))
  const wrong = orders.flatMap(({ id, payer, amount }) =>
    (refundsOf.get(id) ?? [])
      .filter(({ to, value }) => to !== payer || value !== amount)
      .map((refund) => finding('wrong refund', id, `${amount} of ${payer}: ${textOf(refund)}`)),
  )
  const strangers = refunds
    .filter(({ to }) => !payers.has(to))
    .map((refund) => finding('wrong refund', refund.transaction, textOf(refund)))
  return [...wrong, ...strangers]
}

/** Goods may be bought only after a payment of the order's payer and amount. */
function unpaidGoods({ orders, payments, suppliedFor }: Book): Finding[] {
  const byTransaction = groupBy(payments, ({ transaction }) => transaction)
  return orders
    .filter(({ id, state }) => state === 'FULFILLED' || isDelivered(suppliedFor.get(id)))
    .filter(({ transaction, payer, amount }) => {
      const paid = byTransaction.get(transaction ?? '') ?? []
      return !paid.some(({ from, value }) => from === payer && value === amount)
    })
    .map(({ id }) => finding('goods without payment', id, 'the chain has no payment for it'))
}

function wrongGoods({ seen, orderById, suppliedFor }: Book): Finding[] {
  return seen.flatMap(({ purchase, payer, goods, orderIds }) => {
    const foreign = orderIds
      .filter((id) => orderById.get(id)?.payer !== payer)
      .map((id) => finding('wrong goods', id, `${purchase} of ${payer} was shown this order`))
    const several = orderIds.length > 1 ? [`${purchase} was given ${orderIds.join(' and ')}`] : []
    const others = goods
      .filter(({ orderId, result }) => !areOf(suppliedFor.get(orderId), result))
      .map(({ orderId, result }) => finding('wrong goods', orderId, `${purchase} got ${result}`))
    const subject = orderIds[0] ?? purchase
    return [...foreign, ...several.map((why) => finding('wrong goods', subject, why)), ...others]
  })
}

/** A payment that landed must never have been answered with a 402. */
function askedAgain({ payments, seen }: Book): Finding[] {
  const landed = new Set(payments.map(nameOf))
  return seen.flatMap(({ purchase, payer, orderIds, refused }) =>
    refused
      .filter(({ nonce }) => landed.has(nameOf({ from: payer, nonce })))
      .map(({ nonce, answer }) =>
        finding('asked to pay again', orderIds[0] ?? purchase, `payment ${nonce}: ${answer}`),
      ),
  )
}

function badAnswers({ seen }: Book): Finding[] {
  return seen.flatMap(({ purchase, orderIds, unexpected }: Seen) =>
    unexpected.map((answer) => finding('bad answer', orderIds[0] ?? purchase, answer)),
  )
}

/** Goods that come after a refund are a loss, which the store must have recorded or still be looking for. */
function unseenLosses({ orders, suppliedFor }: Book): Finding[] {
  return orders
    .filter(({ id, supply }) => supply === 'NONE' && isDelivered(suppliedFor.get(id)))
    .map(({ id }) =>
      finding('loss nobody sees', id, 'the supplier delivered, the store knows none'),
    )
}

function endedAlone(book: Book): Finding[] {
  return book.endedAlone.map((said) => finding('node ended by itself', 'node', said))
}

/** Attackers must not be able to pause the store. */
function pausedByAttackers({ pauses, seen, calmUntil }: Book): Finding[] {
  const heard = seen.filter(({ pausedAt }) => pausedAt.some((at) => at < calmUntil))
  return [
    ...pauses.map((said) => finding('paused by an attacker', 'node', said)),
    ...heard.map(({ purchase }) =>
      finding('paused by an attacker', purchase, 'its buyer heard that the store is paused'),
    ),
  ]
}

/** A run without an order has nothing that could have gone wrong. */
function nothingBought({ orders }: Book): Finding[] {
  return orders.length > 0 ? [] : [finding('nothing bought', 'store', 'there is no order')]
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

function finding(wrong: Wrong, subject: string, why: string): Finding {
  return { wrong, subject, why }
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
