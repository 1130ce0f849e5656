import {
  ended,
  opened,
  opening,
  ordered,
  orderOf,
  payment,
  unitsOfPrice,
} from '../../test/contract/sample-checkouts.ts'
import { failed, fulfilling, newHash } from '../../test/contract/sample-orders.ts'
import type { Checkout, CheckoutIn } from '../checkouts/checkout.ts'
import type { In, Order } from '../orders/order.ts'
import { usdc } from '../primitives/money.ts'
import type { DifferenceCode } from './differences.ts'
import { look, type World, worldOf } from './world.fixture.ts'

/** A checkout that became an order, whose money went back, with its invoice at the processor. */
export function soldWorld(): World & { readonly sold: CheckoutIn<'ORDERED'> } {
  const sold = { ...ordered(opened(opening())), isPlaced: true }
  const at = new Date()
  const receipt = { rail: 'btcpay', transaction: newHash() } as const
  const settled = { receipt, settlement: 'FINAL', paidAt: at, deliverBy: at } as const
  const paid: In<'PAID'> = { ...orderOf(sold), state: 'PAID', ...settled }
  const refund = { step: 'REFUNDED', transaction: newHash(), refundedAt: at } as const
  const order = { ...failed(fulfilling(paid)), refund }
  return { ...worldOf([]), orders: [order], ...atProcessor(sold), sold }
}

/** These checkouts, and their invoices as the processor tells them: just as they are on record. */
export function atProcessor(...checkouts: readonly Checkout[]) {
  const invoices = checkouts.flatMap((one) =>
    'invoice' in one ? [[one.invoice.id, one.invoice] as const] : [],
  )
  return { checkouts: [...checkouts], invoices: new Map(invoices) }
}

/** A fault: what is done to an honest world, and what must be found, of which checkout or order. */
interface CheckoutFault {
  readonly code: DifferenceCode
  readonly doctor: (world: ReturnType<typeof soldWorld>) => void
}

function amendOrder(world: World, changes: Partial<Order>): void {
  world.orders = world.orders.map((order) => ({ ...order, ...changes }) as Order)
}

function amendTender(world: World, changes: object): void {
  const [order] = world.orders as [Order]
  amendOrder(world, { tender: { ...order.tender, ...changes } as Order['tender'] })
}

export const checkoutFaults: Record<string, CheckoutFault> = {
  'an order that was lost': {
    code: 'checkout_without_order',
    doctor: (world) => {
      world.orders = []
    },
  },
  'an order that is not opened for long': {
    code: 'checkout_without_order',
    doctor: (world) => {
      world.orders = []
      const changedAt = new Date(look.now.getTime() - look.strayAfterMs)
      world.checkouts = [{ ...world.sold, isPlaced: false, changedAt }]
    },
  },
  'an order without a decision': {
    code: 'order_without_checkout',
    doctor: (world) => {
      world.checkouts = []
      world.strayOrders = world.orders.map(({ id }) => id)
    },
  },
  'another price': {
    code: 'checkout_order_differs',
    doctor: (world) => amendOrder(world, { amount: usdc(1n) }),
  },
  'other units': {
    code: 'checkout_order_differs',
    doctor: (world) => amendTender(world, { units: unitsOfPrice - 1n }),
  },
  'another invoice': {
    code: 'checkout_order_differs',
    doctor: (world) => amendTender(world, { invoice: 'another' }),
  },
  'another address': {
    code: 'checkout_order_differs',
    doctor: (world) => amendTender(world, { payer: 'BTC:bc1qThief' }),
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
  'a ledger of coins that was changed': {
    code: 'checkout_ledger_differs',
    doctor: ({ misbookedCheckouts, sold: { id: checkout, coin } }) =>
      misbookedCheckouts.push({ checkout, coin, account: 'due', booked: 1n, due: 0n }),
  },
}
