import { newCheckoutId, newOrderId } from '../../test/doubles/ids.ts'
import {
  ended,
  opened,
  opening,
  ordered,
  orderOf,
  payment,
  refundTo,
  returning,
  stepping,
  unitsOfPrice,
} from '../../test/fixtures/sample-checkouts.ts'
import { failed, fulfilled, fulfilling, newHash } from '../../test/fixtures/sample-orders.ts'
import { type Checkout, type CheckoutIn, returnReference } from '../checkouts/checkout.ts'
import type { OrderId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { goodwillDropped } from '../orders/goodwill.ts'
import type { In, Order } from '../orders/order.ts'
import type { Payout } from '../orders/payout.ts'
import type { Goodwill } from '../orders/ports.ts'
import type { ProcessorPayout } from './ports.ts'
import {
  goodwillOf,
  type Life,
  type LifeName,
  look,
  purchaseOf,
  refundOf,
  refundWallet,
  transfer,
  type World,
  worldOf,
} from './world.fixture.ts'

/** What a fault changes in an honest world. */
type Doctor<Of extends World = World> = (world: Of, life: Required<Life>) => Partial<World>

const dollar = usdc(1_000_000n)
const somebody = `0x${'99'.repeat(20)}`

const adds =
  (list: 'received' | 'paidBack' | 'purchases', one: (life: Required<Life>) => object): Doctor =>
  (world, life) => ({ [list]: [...world[list], one(life)] })

const amends =
  (changes: Partial<Order>): Doctor =>
  ({ orders }) => ({ orders: orders.map((order) => ({ ...order, ...changes }) as Order) })

/** Goodwill of a delivered order, as the record has it and as the chain does. */
const gives =
  (changes: Partial<Goodwill> = {}, onChain: object = {}): Doctor =>
  (_, { order }) => {
    const paid = goodwillOf(order)
    const { payment, receipt } = order as In<'FULFILLED'>
    const goodwill = {
      ...{ id: order.id, version: 3, amount: dollar, reason: 'late', by: 'ada' },
      ...{ givenAt: look.now, changedAt: new Date(0), payment, receipt },
      payout: { state: 'CONFIRMED', transaction: paid.transaction, confirmedAt: look.now },
      ...changes,
    } as Goodwill
    return { goodwill: [goodwill], paidBack: [{ ...paid, ...onChain }] }
  }

const refund = adds('paidBack', ({ order }) => refundOf(order))
const goods = adds('purchases', ({ order }) => purchaseOf(order, 'delivered'))
const landed = adds('received', ({ order: { payment } }) =>
  transfer({ from: payment.payer.toLowerCase(), nonce: payment.nonce }),
)

/** The faults in each life of an order, by the codes that are found and a name. */
export const faults: Partial<Record<LifeName, Record<string, Doctor>>> = {
  delivered: {
    'unmatched_money: a plain transfer to us': adds('received', () => transfer()),
    'payment_differs: another amount': (_, { payment }) => ({
      received: [{ ...payment, amount: dollar }],
    }),
    'payment_differs: another transaction': (_, { payment }) => ({
      received: [{ ...payment, transaction: newHash() }],
    }),
    'booked_not_on_chain: a payment in no block': () => ({ received: [] }),
    'booked_not_on_chain: a payment of somebody else': (_, { payment }) => ({
      received: [{ ...payment, block: -1, from: somebody }],
    }),
    'refund_wallet_moved: money taken out of the refund wallet': adds('paidBack', () =>
      transfer({ from: refundWallet, to: somebody }),
    ),
    'delivered_and_refunded: a refund of what was delivered': refund,
    'delivered_but_not_charged: goods that the supplier does not know': () => ({ purchases: [] }),
    'delivered_but_not_charged: goods that the supplier failed to deliver': (_, { order }) => ({
      purchases: [purchaseOf(order, 'failed')],
    }),
    'charge_differs: goods that the supplier charges otherwise than it said': amends({
      charge: { amount: 44, currency: 'USD', divisor: 100 },
    }),
    'payment_without_order,supplier_purchase_unknown: an order that is gone': () => ({
      orders: [],
    }),
    'supplier_bought_twice: a purchase that is listed twice': adds('purchases', ({ purchase }) => ({
      ...purchase,
      kind: 'esim',
    })),
    'ledger_differs: a ledger that was changed': (_, { order }) => ({
      misbooked: [{ order: order.id, account: 'open', booked: -1n, due: 0n }],
    }),
    'goodwill_not_booked: goodwill that is not on record': adds('paidBack', ({ order }) =>
      goodwillOf(order),
    ),
    'goodwill_not_booked: goodwill that was due and is paid': gives({ payout: { state: 'DUE' } }),
    'goodwill_not_booked: goodwill that was dropped and is paid': gives({
      payout: { state: 'FAILED', code: goodwillDropped, reason: 'blocked' },
    }),
    'goodwill_differs: another amount': gives({}, { amount: usdc(2_000_000n) }),
    'goodwill_differs: for somebody else': gives({}, { to: somebody }),
    'goodwill_differs: by another transaction': gives({}, { transaction: newHash() }),
    'goodwill_booked_not_on_chain: goodwill in no block': (...at) => ({
      ...gives()(...at),
      paidBack: [],
    }),
  },
  paid: {
    'payment_without_order: a payment whose order is gone': () => ({ orders: [] }),
    'one_payment_two_orders: a second order of one payment': ({ received }, { order }) => {
      const last = order.id.endsWith('z') ? 'y' : 'z'
      const twin = { ...order, id: `${order.id.slice(0, -1)}${last}` as OrderId }
      return { orders: [order, twin], received: received.map((one) => ({ ...one, block: -1 })) }
    },
  },
  'pending, just paid': {
    'payment_not_booked: a pending order that paid long ago': amends({ placedAt: new Date(0) }),
  },
  'not paid': {
    'payment_not_booked: a failed payment that landed': landed,
    'supplier_charged_but_not_delivered: goods for an order that was never paid': goods,
  },
  'payment vanished': {
    'payment_not_booked: a vanished payment that landed': landed,
  },
  fulfilling: {
    'refund_not_booked: a refund of an order that is to be delivered': refund,
  },
  due: {
    'refund_not_booked: a refund that is due': refund,
    'refund_without_order: a refund with a nonce of no order': adds('paidBack', ({ order }) => ({
      ...refundOf(order),
      nonce: newHash(),
    })),
  },
  refunded: {
    'refund_booked_not_on_chain: a refund in no block': () => ({ paidBack: [] }),
    'refund_differs: a refund of less': (_, { refund: paid }) => ({
      paidBack: [{ ...paid, amount: dollar }],
    }),
    'refund_differs: a refund to somebody else': (_, { refund: paid }) => ({
      paidBack: [{ ...paid, to: somebody }],
    }),
    'refund_differs: a refund in another transaction': (_, { refund: paid }) => ({
      paidBack: [{ ...paid, transaction: newHash() }],
    }),
    'refunded_twice: two refunds': refund,
  },
  'refunded, never bought': {
    'supplier_charged_but_not_delivered: goods for an order that was refunded': goods,
  },
  'goods returned': {
    'supplier_charged_but_not_delivered: goods that were not given back': (_, { order }) => ({
      purchases: [purchaseOf(order, 'delivered')],
    }),
  },
}

interface SoldWorld extends World {
  readonly sold: CheckoutIn<'ORDERED'>
  /** Its order, before it was given up. */
  readonly underWay: In<'FULFILLING'>
  payouts: ProcessorPayout[]
  paidInvoices: NonNullable<World['paidInvoices']>
}

/** A checkout that became an order, with the refund of the order and a return, and its processor. */
export function soldWorld(): SoldWorld {
  const bought = { ...ordered(opened(opening())), isPlaced: true }
  const sold = stepping(returning(bought, unitsSentBack), 'CONFIRMED')
  const at = new Date('2026-03-01T11:00:00Z')
  const receipt = { method: 'btcpay', transaction: newHash() } as const
  const settled = { receipt, settlement: 'FINAL', paidAt: at, deliverBy: at } as const
  const paid: In<'PAID'> = { ...orderOf(sold), state: 'PAID', ...settled }
  const payout = { state: 'CONFIRMED', transaction: newHash(), confirmedAt: at } as const
  const underWay = fulfilling(paid)
  const order = { ...failed(underWay), payout }
  const payouts = [
    paidOut(order.id, unitsOfPrice, payout.transaction),
    paidOut(returnReference(sold.id, 1), unitsSentBack, transactionOfReturn(sold)),
  ]
  const { invoice, id: checkout, orderId, startedAt: madeAt } = sold
  const paidInvoices = [{ id: invoice.id, checkout, order: orderId, madeAt }]
  const processor = { ...atProcessor(sold), payouts, paidInvoices }
  return { ...worldOf([]), orders: [order], ...processor, sold, underWay }
}

const unitsSentBack = 500n

function transactionOfReturn({ returns: [first] }: CheckoutIn<'ORDERED'>): string {
  return first?.payout.state === 'CONFIRMED' ? first.payout.transaction : ''
}

function paidOut(reference: string, units: bigint, transaction: string): ProcessorPayout {
  return { reference, coin: 'BTC', to: refundTo, units, isSent: true, transaction }
}

/** These checkouts, with their invoices at the processor exactly as they are on record. */
export function atProcessor(...checkouts: readonly Checkout[]) {
  const invoices = checkouts.flatMap((one) =>
    'invoice' in one ? [[one.invoice.id, one.invoice] as const] : [],
  )
  return { checkouts: [...checkouts], invoices: new Map(invoices) }
}

type Sold = Doctor<SoldWorld>

/** Changes the payment of the order. */
const paysWith =
  (changes: object): Sold =>
  ({ orders }) => ({
    orders: orders.map((order) => {
      return { ...order, payment: { ...order.payment, ...changes } } as Order
    }),
  })

/** Changes the first payout at the processor, which is the refund of the order, or the second. */
const paysOut =
  (changes: Partial<ProcessorPayout>, index = 0): Sold =>
  ({ payouts }) => ({
    payouts: payouts.map((one, at) => (at === index ? { ...one, ...changes } : one)),
  })

/** The refund of the order once more. */
const twice =
  (changes: Partial<ProcessorPayout> = {}): Sold =>
  ({ payouts: [refunded, ...others] }) => {
    const again = { ...(refunded as ProcessorPayout), ...changes }
    return { payouts: [refunded as ProcessorPayout, ...others, again] }
  }

const both =
  (one: Sold, other: Sold): Sold =>
  (...at) => ({ ...one(...at), ...other(...at) })

/** The order is not on record, and was never paid back. */
const loses: Sold = ({ payouts }) => ({ orders: [], payouts: payouts.slice(1) })

/** Another invoice that somebody paid long ago. */
const paidBeside =
  (checkout: (world: SoldWorld) => Checkout['id']): Sold =>
  (world) => {
    const invoice = { id: 'Lost', order: newOrderId(), madeAt: longAgo }
    return { paidInvoices: [...world.paidInvoices, { ...invoice, checkout: checkout(world) }] }
  }

const byHand = newHash()
const longAgo = new Date(look.now.getTime() - look.strayAfterMs)
const notBooked: Payout = { state: 'FAILED', code: 'over_cap', reason: 'cap' }

/** The faults of what was paid in a coin, likewise. */
export const checkoutFaults: Record<string, Sold> = {
  'checkout_without_order: an order that was lost': loses,
  'checkout_without_order: an order that is not opened for long': both(loses, ({ sold }) => ({
    checkouts: [{ ...sold, isPlaced: false, changedAt: longAgo }],
  })),
  'order_without_checkout: an order without a decision': ({ orders }) => ({
    ...{ checkouts: [], payouts: [], paidInvoices: [] },
    strayOrders: orders.map(({ id }) => id),
  }),
  'checkout_order_differs: another price': amends({ amount: usdc(1n) }),
  'checkout_order_differs: other units': both(
    paysWith({ units: unitsOfPrice - 1n }),
    paysOut({ units: unitsOfPrice - 1n }),
  ),
  'checkout_order_differs: another invoice': paysWith({ invoice: 'another' }),
  'checkout_order_differs: another address': both(
    paysWith({ payer: 'BTC:bc1qThief' }),
    paysOut({ to: 'bc1qThief' }),
  ),
  'coins_not_booked: money that came after the watch': ({ checkouts, invoices }) => {
    const over = { ...ended(opened(opening())), closedAt: look.now }
    const paid = { ...over.invoice, payments: [payment(7n)] }
    return {
      checkouts: [...checkouts, over],
      invoices: new Map([...(invoices ?? []), [paid.id, paid]]),
    }
  },
  'coins_booked_not_found: money that vanished at the processor': ({ sold: { invoice } }) => ({
    invoices: new Map([[invoice.id, { ...invoice, payments: [] }]]),
  }),
  'invoice_unknown: an invoice that somebody paid and no checkout has': paidBeside(newCheckoutId),
  'invoice_unknown: another invoice of a checkout, paid as well': paidBeside(({ sold }) => sold.id),
  'payout_booked_not_found: a refund that was never sent': paysOut({ isSent: false }),
  'payout_booked_not_found: a return that is not there': ({ payouts }) => ({
    payouts: payouts.slice(0, 1),
  }),
  'payout_differs: a refund to another address': paysOut({ to: 'bc1qThief' }),
  'payout_differs: a refund in another amount': paysOut({ units: unitsOfPrice + 1n }),
  'payout_differs: a return in another coin': paysOut({ coin: 'LTC' }, 1),
  'payout_differs: a refund in another transaction': paysOut({ transaction: newHash() }),
  'paid_out_twice: a refund that went out twice': twice({ transaction: newHash() }),
  'paid_out_twice: a refund that went out twice in one transaction': twice(),
  'paid_out_twice: a refund that went out twice, in transactions that are not named': (...at) => {
    const [world, life] = at
    const unnamed = { ...world, ...paysOut({ transaction: undefined })(world, life) } as SoldWorld
    return twice()(unnamed, life)
  },
  'paid_out_twice: a refund whose first transaction only an operator noted': (world, life) => {
    const [{ reference, transaction = '' }] = world.payouts as [ProcessorPayout]
    const unnamed = { ...world, ...paysOut({ transaction: undefined })(world, life) } as SoldWorld
    return { ...twice()(unnamed, life), handNotes: new Map([[reference, transaction]]) }
  },
  'paid_out_twice: a return that an operator paid besides': ({ sold }) => ({
    handNotes: new Map([[returnReference(sold.id, 1), byHand]]),
  }),
  'payout_not_booked: a return that is paid and counts as failed': ({ sold }) => ({
    checkouts: [{ ...sold, returns: sold.returns.map((one) => ({ ...one, payout: notBooked })) }],
  }),
  'payout_unknown: a payout for a return that nobody decided': ({ payouts, sold }) => ({
    payouts: [...payouts, paidOut(returnReference(sold.id, 2), 1n, byHand)],
  }),
  'payout_unknown: a payout for an order that is not on record': ({ payouts }) => ({
    payouts: [...payouts, paidOut(newOrderId(), 1n, byHand)],
  }),
  'delivered_and_refunded: a refund of delivered goods': ({ underWay }) => {
    const order = fulfilled(underWay)
    return { orders: [order], purchases: [purchaseOf(order, 'delivered')] }
  },
  'refund_not_booked: a refund in a coin of an order that may still be delivered': (world) => ({
    orders: [world.underWay],
  }),
  'checkout_ledger_differs: a ledger of coins that was changed': ({ sold: { id, coin } }) => ({
    misbookedCheckouts: [{ checkout: id, coin, account: 'due', booked: 1n, due: 0n }],
  }),
}
