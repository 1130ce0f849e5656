import { expect } from 'vitest'
import type { Checkout, CheckoutIn, InvoicedCheckout } from '../../src/checkouts/checkout.ts'
import type { CheckoutStore } from '../../src/checkouts/ports.ts'
import type { CheckoutId } from '../../src/lib/ids.ts'
import type { OrderStore, PayoutLimits } from '../../src/orders/ports.ts'
import type { Moved } from '../../src/orders/workflow.ts'
import { opened, opening, ordered, orderOf } from './sample-checkouts.ts'

/** One empty record of checkouts, as two nodes see it. */
export interface CheckoutStoreHarness {
  readonly store: CheckoutStore
  readonly other: CheckoutStore
  /** The orders that checkouts become, in the same record. */
  readonly orders: OrderStore
  /** Endless ones. */
  readonly payoutLimits: PayoutLimits
  /** Lets the lease of this checkout run out now. */
  endLease(id: CheckoutId): Promise<void>
  /** Lets that much time go by for every checkout. */
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

export type CheckoutNodes = () => CheckoutStoreHarness

/** What is enough to put checkouts on record. */
type CheckoutRecords = () => Pick<CheckoutStoreHarness, 'store' | 'orders'>

/** Opens the first checkout on the way and moves it on to the last. */
export async function takeCheckout(
  records: CheckoutRecords,
  way: readonly Checkout[],
): Promise<Checkout> {
  const [first, ...rest] = way
  if (first?.state !== 'OPENING') throw new Error('A checkout begins with its form')
  let { checkout }: { checkout: Checkout } = await records().store.open(first)
  for (const next of rest) checkout = wonCheckout(await records().store.move(checkout, next))
  return checkout
}

/** The checkout after a move that nobody else got ahead of. */
export function wonCheckout(moved: Moved<Checkout>): Checkout {
  expect(moved.won).toBe(true)
  return moved.record
}

/** A checkout on record, at this state, with the version that it has there. */
export async function onRecord<C extends Checkout>(
  records: CheckoutRecords,
  ...way: readonly [...Checkout[], C]
): Promise<C> {
  return (await takeCheckout(records, way)) as C
}

/** Moves a checkout on, and gives it back as what it became. */
export async function moveOn<C extends InvoicedCheckout>(
  records: CheckoutRecords,
  from: Checkout,
  to: C,
): Promise<C> {
  return wonCheckout(await records().store.move(from, to)) as C
}

/** An invoice that can be paid, on record. */
export async function openOnRecord(records: CheckoutRecords): Promise<CheckoutIn<'OPEN'>> {
  const first = opening()
  return onRecord(records, first, opened(first))
}

/** A checkout that is paid, and its order, both on record. */
export async function placedOnRecord(records: CheckoutRecords): Promise<CheckoutIn<'ORDERED'>> {
  const open = await openOnRecord(records)
  const paid = await moveOn(records, open, ordered(open))
  await records().orders.open(orderOf(paid), [])
  return moveOn(records, paid, { ...paid, isPlaced: true })
}
