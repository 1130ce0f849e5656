import { expect } from 'vitest'
import type { OrderId } from '../../src/lib/ids.ts'
import type { In, Order } from '../../src/orders/order.ts'
import type { ApprovalStore, Counted, LimitStore, OrderStore } from '../../src/orders/ports.ts'
import type { Moved } from '../../src/orders/workflow.ts'
import { fulfilling, paid, pending, wayTo } from './sample-orders.ts'

/** One empty record of orders, as two nodes see it. */
export interface OrderStoreHarness {
  readonly store: OrderStore
  readonly other: OrderStore
  /** The limits that both hold new orders to. */
  readonly limits: LimitStore
  /** The approvals that those limits ask for. */
  readonly approvals: ApprovalStore
  /** Lets the lease of this order run out now. */
  endLease(id: OrderId): Promise<void>
  /** Grants the refund of this order, without which none is signed. */
  grant(id: OrderId): Promise<void>
  /** Lets that much time go by for every order. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

/** The nodes of the test that runs. */
export type Nodes = () => OrderStoreHarness

/** Opens the first order on the way and moves it on to the last. */
export function take(
  nodes: Nodes,
  way: readonly Order[],
  keys: readonly string[] = [],
): Promise<Order> {
  return walk(nodes().store, way, keys)
}

/** An order on record, brought there one move after the other, with the version that it has there. */
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

/** The order after a move that nobody else got ahead of. */
export function expectWon(moved: Moved<Order>): Order {
  expect(moved.won).toBe(true)
  return moved.record
}

export function asked(changes: Partial<In<'PAYMENT_PENDING'>> = {}): In<'FULFILLING'> {
  return fulfilling(paid(pending(changes)))
}
