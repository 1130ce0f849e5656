import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { lifeOf } from '../adapters/storage/finding.ts'
import { createGoodwillStore } from '../adapters/storage/goodwill.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { isPaidFor } from '../api/tracking/find.ts'
import { recordsOf as storedRecords } from '../api/tracking/order-view.ts'
import { type Checkout, isClosed, isInvoiced } from '../checkouts/checkout.ts'
import type { OrderId } from '../lib/ids.ts'
import { formatUsdc } from '../lib/money.ts'
import {
  isFinished,
  isRefunding,
  isUnderWay,
  type Order,
  refundStateOf,
  supplierReferenceOf,
} from '../orders/order.ts'
import { audited } from './audit.ts'
import { type Operator, Refused } from './operator.ts'
import { openPayouts } from './refunds.ts'

type Records = Awaited<ReturnType<typeof recordsOf>>

/** The order, or the checkout that may become it, or both. @throws Refused if there is neither */
export async function recordsOf({ database }: Pick<Operator, 'database'>, id: OrderId) {
  const stores = { orders: createOrderStore(database), checkouts: createCheckoutStore(database) }
  const records = await storedRecords(stores, id)
  if (!records.order && !records.checkout) throw new Refused(`There is no order ${id}.`)
  return { id, ...records }
}

/**
 * The whole life of an order in one list, the payouts that are open, and what may be done now. Shows neither its goods
 * nor who receives them.
 */
export async function showOrder(operator: Pick<Operator, 'database'>, id: OrderId) {
  const records = await recordsOf(operator, id)
  const { order, checkout } = records
  const owners: readonly (string | undefined)[] = [id, checkout?.id]
  const open = await openPayouts(operator.database)
  const payouts = open.filter(({ reference }) => owners.includes(reference.split('-')[0]))
  const goodwill = await createGoodwillStore(operator.database).find(id)
  return {
    order: order ? orderFacts(order) : null,
    checkout: checkout ? checkoutFacts(checkout) : null,
    life: await lifeOf(operator.database, id, checkout?.id),
    payouts,
    mayDo: [
      ...payouts.filter(({ state }) => state === 'FAILED').map(wayOut),
      ...waysOn(records, goodwill !== undefined),
    ],
  }
}

function orderFacts(order: Order) {
  const { id, paymentId, state, item, amount, payment, placedAt, changedAt, recipient } = order
  const { kind, offerId, brandName, country = null, source } = item
  return {
    ...{ id, paymentId, state, refundState: refundStateOf(order) },
    ...{ kind, offerId, brandName, country, amountUsdc: formatUsdc(amount) },
    ...{ paidBy: payment.method, network: payment.network, payer: payment.payer },
    settlement: 'settlement' in order ? order.settlement : null,
    ...{ supplier: source.supplier, supplierReference: supplierReferenceOf(id) },
    ...{ placedAt, changedAt, deliverBy: 'deliverBy' in order ? order.deliverBy : null },
    // The supplier's own words may name the recipient.
    failure: isRefunding(order) ? (order.failure.code ?? order.failure.trigger) : null,
    isErased: recipient === undefined,
  }
}

function checkoutFacts(checkout: Checkout) {
  const { id, state, coin, network, refundTo } = checkout
  const { id: invoice, status, addresses } = isInvoiced(checkout) ? checkout.invoice : noInvoice
  return { id, state, coin, network, refundTo, invoice, status, addresses }
}

const noInvoice = { id: null, status: null, addresses: [] }

type OpenPayout = Awaited<ReturnType<typeof openPayouts>>[number]

function wayOut({ reference, code, waitsFor, amount, coin, to }: OpenPayout) {
  const payout = `${amount} ${coin} to ${to}`
  if (waitsFor === 'release') {
    const causes = `Pays ${payout}, although the denylist names that party.`
    return may(`refund release ${reference} --reason "..."`, causes)
  }
  return waitsFor === 'retry'
    ? may(`refund retry ${reference}`, `Tries again to pay ${payout}; it failed with ${code}.`)
    : may(
        `refund paid ${reference} TRANSACTION`,
        `Notes that ${payout} was paid by hand (${code}).`,
      )
}

function waysOn(records: Records, hasGoodwill: boolean) {
  const { id, order } = records
  const ways: ReturnType<typeof may>[] = []
  if (isWaiting(records)) {
    ways.push(may(`order retry ${id}`, 'The running store looks at it at once.'))
  }
  if (isPaidFor(records)) {
    const causes = 'Mails a link that opens the order, and shows its goods, for seven days.'
    ways.push(may(`order resend ${id} --to ADDRESS --reason "..."`, causes))
  }
  if (order?.state === 'FULFILLED' && order.settlement === 'FINAL' && !hasGoodwill) {
    const causes = `Gives ${order.payment.payer} at most ${formatUsdc(order.amount)} USDC, once.`
    ways.push(may(`refund goodwill ${id} USDC --reason "..."`, causes))
  }
  return ways
}

/** @param causes a sentence */
const may = (command: string, causes: string) => {
  return { command: `kiosk402 ${command}`, causes }
}

function isWaiting({ order, checkout }: Pick<Records, 'order' | 'checkout'>): boolean {
  if (order && (isUnderWay(order) || !isFinished(order))) return true
  return checkout !== undefined && !isClosed(checkout)
}

/** Has the running store look at once at what is under way. @throws Refused if nothing is */
export async function retryOrder(operator: Operator, id: OrderId) {
  const records = await recordsOf(operator, id)
  const { checkout } = records
  if (!isWaiting(records)) {
    throw new Refused(`Nothing of ${id} is under way. kiosk402 order show ${id} tells what to do.`)
  }
  await audited(operator, { act: 'order retry', subject: `order:${id}` }, async (client) => {
    await createOrderStore(client).hasten(id)
    if (checkout && isInvoiced(checkout)) {
      await createCheckoutStore(client).hasten(checkout.invoice.id)
    }
  })
  return { order: id }
}
