import { type Checkout, isClosed, isInvoiced } from '../../checkouts/checkout.ts'
import { withSource } from './order-row.ts'
import { returnRowOf, withReturns } from './payout-row.ts'
import { restored, storable } from './storable.ts'

/** The columns that every read of a checkout selects. */
export const checkoutColumns = 'version, recipient, refund_to, doc, write_id'

/** The row of a checkout, and the id of the write that made it. */
export interface StoredCheckout {
  readonly version: number
  readonly recipient: string | null
  readonly refund_to: string | null
  readonly doc: unknown
  readonly write_id: string
}

/** The columns of a write. The database sets the others itself, some from `doc`. */
export interface CheckoutColumns {
  readonly state: Checkout['state']
  readonly recipient: string | null
  readonly refundTo: string | null
  readonly changedAt: Date
  readonly isFinished: boolean
  /** JSON text: the checkout without its version and its personal fields. */
  readonly doc: string
}

/** The checkout as columns. `checkoutOf` restores everything except the version. */
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

/** The checkout in a row. Only rows written from `checkoutColumnsOf` exist. */
export function checkoutOf({ version, recipient, refund_to, doc }: StoredCheckout): Checkout {
  return withReturns({
    ...withSource(restored(doc)),
    version,
    recipient: recipient ?? undefined,
    refundTo: refund_to ?? '',
  } as Checkout)
}

/**
 * The entry in the history for the present state of a checkout, as JSON text: amounts, transactions, steps
 * and codes. Free text and addresses are left out, because the history is never erased.
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
