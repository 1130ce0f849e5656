import { expect } from 'vitest'
import type { In, Order } from '../../src/orders/order.ts'
import type { Counted, OrderStore } from '../../src/orders/ports.ts'
import type { Moved } from '../../src/orders/workflow.ts'
import { fulfilling, paid, pending, wayTo } from './sample-orders.ts'

/** Opens the first order of `way`, and moves it through the others to the last. */
export async function take(
  store: OrderStore,
  way: readonly Order[],
  keys: readonly string[] = [],
  counted?: Counted,
): Promise<Order> {
  const [first, ...rest] = way
  if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
  let order: Order = (await store.open(first, keys, { counted })).order
  for (const next of rest) order = expectWon(await store.move(order, next))
  return order
}

/** The order after a move, which must have won. */
export function expectWon(moved: Moved<Order>): Order {
  expect(moved.won).toBe(true)
  return moved.record
}

/** Puts an order on record by moves up to `target`, and returns it with its version. */
export function orderOnRecord(store: OrderStore, target: Order, counted?: Counted): Promise<Order> {
  return take(store, wayTo(target), [], counted)
}

export function asked(changes: Partial<In<'PAYMENT_PENDING'>> = {}): In<'FULFILLING'> {
  return fulfilling(paid(pending(changes)))
}
