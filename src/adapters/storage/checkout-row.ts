import { type Checkout, isClosed, isInvoiced } from '../../checkouts/checkout.ts'
import { withSource } from './order-row.ts'
import { returnRowOf, withReturns } from './payout-row.ts'
import { restored, storable } from './storable.ts'

/** What a checkout is read from, wherever it is read. */
export const checkoutColumns = 'version, recipient, refund_to, doc, write_id'

/** A checkout's row, and the name of the write that made it. */
export interface StoredCheckout {
  readonly version: number
  readonly recipient: string | null
  readonly refund_to: string | null
  readonly doc: unknown
  readonly write_id: string
}

/** What a write puts into the columns. All others the database takes from `doc`, or are its own. */
export interface CheckoutColumns {
  readonly state: Checkout['state']
  readonly recipient: string | null
  readonly refundTo: string | null
  readonly changedAt: Date
  readonly isFinished: boolean
  /** JSON text: the checkout without its version and its personal fields. */
  readonly doc: string
}

/** The checkout as columns. Everything but its version comes back by `checkoutOf`. */
export function checkoutColumnsOf(checkout: Checkout): CheckoutColumns {
  const { version: _, recipient, refundTo, ...doc } = checkout
  const returns = isInvoiced(checkout) ? { returns: checkout.returns.map(returnRowOf) } : {}
  return {
    state: checkout.state,
    recipient: recipient ?? null,
    refundTo: refundTo === '' ? null : refundTo,
    changedAt: checkout.changedAt,
    isFinished: isClosed(checkout),
    doc: JSON.stringify(storable({ ...doc, ...returns })),
  }
}

/** The checkout of a row that was written from `checkoutColumnsOf`; nothing else writes that table. */
export function checkoutOf({ version, recipient, refund_to, doc }: StoredCheckout): Checkout {
  return withReturns({
    ...withSource(restored(doc)),
    version,
    recipient: recipient ?? undefined,
    refundTo: refund_to ?? '',
  } as Checkout)
}

/**
 * What the history says of a checkout at this moment, as JSON text: amounts, transactions, steps and
 * codes. Free text and addresses are left out, because the history is never erased.
 */
export function checkoutDetailOf(checkout: Checkout): string {
  return JSON.stringify(storable(detailOf(checkout)))
}

function detailOf(checkout: Checkout): object {
  if (checkout.state === 'REFUSED') return { code: checkout.code }
  if (!isInvoiced(checkout)) return {}
  const { invoice, returns, closedAt } = checkout
  return {
    invoice: invoice.id,
    status: invoice.status,
    payments: invoice.payments.map(({ id, units, status }) => ({ id, units, status })),
    returns: returns.map((one) => {
      const { seq, units, why, payout } = one
      return {
        ...{ seq, units, why, step: returnRowOf(one).step.type },
        ...(payout.state === 'CONFIRMED' ? { transaction: payout.transaction } : {}),
        ...(payout.state === 'FAILED' ? { code: payout.code } : {}),
      }
    }),
    ...(checkout.state === 'ORDERED' ? { price: checkout.price, placed: checkout.isPlaced } : {}),
    ...(closedAt === undefined ? {} : { closed: true }),
  }
}
