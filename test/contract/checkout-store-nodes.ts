import { expect } from 'vitest'
import type { Checkout, CheckoutIn, InvoicedCheckout } from '../../src/checkouts/checkout.ts'
import type { CheckoutStore } from '../../src/checkouts/ports.ts'
import type { OrderStore } from '../../src/orders/ports.ts'
import type { Moved } from '../../src/orders/workflow.ts'
import { opened, opening, ordered, orderOf } from './sample-checkouts.ts'

/** The stores that are needed to put checkouts on record. */
type CheckoutRecords = () => { readonly store: CheckoutStore; readonly orders: OrderStore }

/** Opens the first checkout of `way`, and moves it through the others to the last. */
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

/** The checkout after a move, which must have won. */
export function wonCheckout(moved: Moved<Checkout>): Checkout {
  expect(moved.won).toBe(true)
  return moved.record
}

/** Puts a checkout on record in this state, and returns it with its version. */
export async function onRecord<C extends Checkout>(
  records: CheckoutRecords,
  ...way: readonly [...Checkout[], C]
): Promise<C> {
  return (await takeCheckout(records, way)) as C
}

/** Moves a checkout, and returns it as stored. */
export async function moveOn<C extends InvoicedCheckout>(
  records: CheckoutRecords,
  from: Checkout,
  to: C,
): Promise<C> {
  return wonCheckout(await records().store.move(from, to)) as C
}

/** Puts a checkout on record whose invoice can be paid. */
export async function openOnRecord(records: CheckoutRecords): Promise<CheckoutIn<'OPEN'>> {
  const first = opening()
  return onRecord(records, first, opened(first))
}

/** Puts a paid checkout and its order on record. */
export async function placedOnRecord(records: CheckoutRecords): Promise<CheckoutIn<'ORDERED'>> {
  const open = await openOnRecord(records)
  const paid = await moveOn(records, open, ordered(open))
  await records().orders.open(orderOf(paid), [])
  return moveOn(records, paid, { ...paid, isPlaced: true })
}
