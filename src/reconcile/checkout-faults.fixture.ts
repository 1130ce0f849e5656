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
} from '../../test/contract/sample-checkouts.ts'
import { failed, fulfilled, fulfilling, newHash } from '../../test/contract/sample-orders.ts'
import { newCheckoutId, newOrderId } from '../../test/doubles/ids.ts'
import { type Checkout, type CheckoutIn, returnReference } from '../checkouts/checkout.ts'
import { usdc } from '../lib/money.ts'
import type { In, Order } from '../orders/order.ts'
import type { Payout } from '../orders/payout.ts'
import type { DifferenceCode } from './differences.ts'
import type { ProcessorPayout } from './ports.ts'
import { look, purchaseOf, type World, worldOf } from './world.fixture.ts'

/** A checkout that became an order, with the refund of the order and a return, and its processor. */
export function soldWorld(): World & {
  readonly sold: CheckoutIn<'ORDERED'>
  /** Its order, before it was given up. */
  readonly underWay: In<'FULFILLING'>
} {
  const bought = { ...ordered(opened(opening())), isPlaced: true }
  const sold = stepping(returning(bought, unitsSentBack), 'CONFIRMED')
  const at = new Date('2026-03-01T11:00:00Z')
  const receipt = { rail: 'btcpay', transaction: newHash() } as const
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

/** A fault: how it changes an honest world, and what must be found, in which checkout or order. */
interface CheckoutFault {
  readonly code: DifferenceCode
  readonly doctor: (world: ReturnType<typeof soldWorld>) => void
}

function amendOrder(world: World, changes: Partial<Order>): void {
  world.orders = world.orders.map((order) => ({ ...order, ...changes }) as Order)
}

/** The order is not on record, and was never paid back. */
function loseOrder(world: World): void {
  world.orders = []
  world.payouts?.shift()
}

function amendPayment(world: World, changes: object): void {
  const [order] = world.orders as [Order]
  amendOrder(world, { tender: { ...order.tender, ...changes } as Order['tender'] })
}

/** Changes the first payout at the processor, which is the refund of the order, or the second. */
function amendPayout({ payouts }: World, changes: Partial<ProcessorPayout>, at = 0): void {
  payouts?.splice(at, 1, { ...(payouts[at] as ProcessorPayout), ...changes })
}

/** Changes the return on record. */
function amendReturn(world: ReturnType<typeof soldWorld>, payout: Payout): void {
  const returns = world.sold.returns.map((one) => ({ ...one, payout }))
  world.checkouts = [{ ...world.sold, returns }]
}

const byHand = newHash()
const lost = { id: 'Lost', order: newOrderId() }
const longAgo = new Date(look.now.getTime() - look.strayAfterMs)

export const checkoutFaults: Record<string, CheckoutFault> = {
  'an order that was lost': {
    code: 'checkout_without_order',
    doctor: loseOrder,
  },
  'an order that is not opened for long': {
    code: 'checkout_without_order',
    doctor: (world) => {
      loseOrder(world)
      const changedAt = new Date(look.now.getTime() - look.strayAfterMs)
      world.checkouts = [{ ...world.sold, isPlaced: false, changedAt }]
    },
  },
  'an order without a decision': {
    code: 'order_without_checkout',
    doctor: (world) => {
      world.checkouts = []
      world.payouts = []
      world.paidInvoices = []
      world.strayOrders = world.orders.map(({ id }) => id)
    },
  },
  'another price': {
    code: 'checkout_order_differs',
    doctor: (world) => amendOrder(world, { amount: usdc(1n) }),
  },
  'other units': {
    code: 'checkout_order_differs',
    doctor: (world) => {
      amendPayment(world, { units: unitsOfPrice - 1n })
      amendPayout(world, { units: unitsOfPrice - 1n })
    },
  },
  'another invoice': {
    code: 'checkout_order_differs',
    doctor: (world) => amendPayment(world, { invoice: 'another' }),
  },
  'another address': {
    code: 'checkout_order_differs',
    doctor: (world) => {
      amendPayment(world, { payer: 'BTC:bc1qThief' })
      amendPayout(world, { to: 'bc1qThief' })
    },
  },
  'money that came after the watch': {
    code: 'coins_not_booked',
    doctor: (world) => {
      const over = { ...ended(opened(opening())), closedAt: look.now }
      const { invoice } = over
      world.checkouts.push(over)
      world.invoices?.set(invoice.id, { ...invoice, payments: [payment(7n)] })
    },
  },
  'money that vanished at the processor': {
    code: 'coins_booked_not_found',
    doctor: ({ sold: { invoice }, invoices }) =>
      invoices?.set(invoice.id, { ...invoice, payments: [] }),
  },
  'an invoice that somebody paid and no checkout has': {
    code: 'invoice_unknown',
    doctor: ({ paidInvoices }) =>
      paidInvoices?.push({ ...lost, checkout: newCheckoutId(), madeAt: longAgo }),
  },
  'another invoice of a checkout, paid as well': {
    code: 'invoice_unknown',
    doctor: ({ paidInvoices, sold: { id } }) =>
      paidInvoices?.push({ ...lost, checkout: id, madeAt: longAgo }),
  },
  'a refund that was never sent': {
    code: 'payout_booked_not_found',
    doctor: (world) => amendPayout(world, { isSent: false }),
  },
  'a return that is not there': {
    code: 'payout_booked_not_found',
    doctor: ({ payouts }) => payouts?.pop(),
  },
  'a refund to another address': {
    code: 'payout_differs',
    doctor: (world) => amendPayout(world, { to: 'bc1qThief' }),
  },
  'a refund in another amount': {
    code: 'payout_differs',
    doctor: (world) => amendPayout(world, { units: unitsOfPrice + 1n }),
  },
  'a return in another coin': {
    code: 'payout_differs',
    doctor: (world) => amendPayout(world, { coin: 'LTC' }, 1),
  },
  'a refund in another transaction': {
    code: 'payout_differs',
    doctor: (world) => amendPayout(world, { transaction: newHash() }),
  },
  'a refund that went out twice': {
    code: 'paid_out_twice',
    doctor: ({ payouts }) =>
      payouts?.push({ ...(payouts[0] as ProcessorPayout), transaction: newHash() }),
  },
  'a refund that went out twice in one transaction': {
    code: 'paid_out_twice',
    doctor: ({ payouts }) => payouts?.push({ ...(payouts[0] as ProcessorPayout) }),
  },
  'a refund that went out twice, in transactions that are not named': {
    code: 'paid_out_twice',
    doctor: (world) => {
      amendPayout(world, { transaction: undefined })
      world.payouts?.push({ ...(world.payouts[0] as ProcessorPayout) })
    },
  },
  'a refund that went out twice, and whose transaction an operator noted': {
    code: 'paid_out_twice',
    doctor: (world) => {
      const [refund] = world.payouts as [ProcessorPayout]
      world.handNotes.set(refund.reference, refund.transaction ?? '')
      amendPayout(world, { transaction: undefined })
      world.payouts?.push({ ...refund, transaction: undefined })
    },
  },
  'a return that an operator paid besides': {
    code: 'paid_out_twice',
    doctor: ({ handNotes, sold }) => handNotes.set(returnReference(sold.id, 1), byHand),
  },
  'a return that is paid and counts as failed': {
    code: 'payout_not_booked',
    doctor: (world) => amendReturn(world, { state: 'FAILED', code: 'over_cap', reason: 'cap' }),
  },
  'a payout for a return that nobody decided': {
    code: 'payout_unknown',
    doctor: ({ payouts, sold }) => payouts?.push(paidOut(returnReference(sold.id, 2), 1n, byHand)),
  },
  'a payout for an order that is not on record': {
    code: 'payout_unknown',
    doctor: ({ payouts }) => payouts?.push(paidOut(newOrderId(), 1n, byHand)),
  },
  'a refund of delivered goods': {
    code: 'delivered_and_refunded',
    doctor: (world) => {
      const order = fulfilled(world.underWay)
      world.orders = [order]
      world.purchases = [purchaseOf(order, 'delivered')]
    },
  },
  'a refund in a coin of an order that may still be delivered': {
    code: 'refund_not_booked',
    doctor: (world) => {
      world.orders = [world.underWay]
    },
  },
  'a ledger of coins that was changed': {
    code: 'checkout_ledger_differs',
    doctor: ({ misbookedCheckouts, sold: { id: checkout, coin } }) =>
      misbookedCheckouts.push({ checkout, coin, account: 'due', booked: 1n, due: 0n }),
  },
}
