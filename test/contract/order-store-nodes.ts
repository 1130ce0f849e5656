import { expect } from 'vitest'
import type { OrderId } from '../../src/lib/ids.ts'
import type { In, Order } from '../../src/orders/order.ts'
import type { ApprovalStore, Counted, LimitStore, OrderStore } from '../../src/orders/ports.ts'
import type { Moved } from '../../src/orders/workflow.ts'
import { fulfilling, paid, pending, wayTo } from './sample-orders.ts'

/** One empty order store, as two nodes see it. */
export interface OrderStoreHarness {
  readonly store: OrderStore
  readonly other: OrderStore
  /** The spending limits that both apply to new orders. */
  readonly limits: LimitStore
  /** The approvals that those limits require. */
  readonly approvals: ApprovalStore
  /** Ends the lease of this order now. */
  endLease(id: OrderId): Promise<void>
  /** Grants the refund of this order, which it needs before it can be signed. */
  grant(id: OrderId): Promise<void>
  /** Lets this much time pass for every order. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

/** The nodes of the current test. */
export type Nodes = () => OrderStoreHarness

/** Opens the first order of `way`, and moves it through the others to the last. */
export function take(
  nodes: Nodes,
  way: readonly Order[],
  keys: readonly string[] = [],
): Promise<Order> {
  return walk(nodes().store, way, keys)
}

/** Puts an order on record by moves up to `target`, and returns it with its version. */
export function orderOnRecord(store: OrderStore, target: Order, counted?: Counted): Promise<Order> {
  return walk(store, wayTo(target), [], counted)
}

async function walk(
  store: OrderStore,
  way: readonly Order[],
  keys: readonly string[],
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

export function asked(changes: Partial<In<'PAYMENT_PENDING'>> = {}): In<'FULFILLING'> {
  return fulfilling(paid(pending(changes)))
}
