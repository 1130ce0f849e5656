import { firstSupplier } from '../../catalog/offer.ts'
import type { Source } from '../../catalog/offer-base.ts'
import {
  type Item,
  isFinished,
  isRefunding,
  type Order,
  refundStateOf,
  restOf,
  type Settlement,
} from '../../orders/order.ts'
import { type RefundRow, refundOf, withRefund } from './payout-row.ts'
import { restored, storable } from './storable.ts'

/** The columns that an order is read from. */
export interface OrderRow {
  readonly version: number
  readonly recipient: string | null
  readonly delivery: string | null
  readonly doc: unknown
}

/** The columns of a write. The database sets version, leases and due times. */
export interface OrderColumns {
  readonly state: Order['state']
  readonly refundState: ReturnType<typeof refundStateOf>
  readonly outcome: 'DELIVER' | 'REFUND' | null
  readonly settlement: Settlement | null
  readonly transactionHash: string | null
  readonly refundTransactionHash: string | null
  readonly iccidDigest: string | null
  readonly changedAt: Date
  readonly isFinished: boolean
  /** How long no worker needs the order, in milliseconds; the write then ends the lease. Null: it renews the lease. */
  readonly restMs: number | null
  readonly recipient: string | null
  readonly delivery: string | null
  /** JSON text: the order without its version and its sealed fields. */
  readonly doc: string
}

/** The order as columns. `orderOf` restores everything except the version. */
export function columnsOf(order: Order): OrderColumns {
  const { version: _, recipient, ...rest } = isRefunding(order) ? withRefund(order) : order
  const { delivery, ...doc } = { delivery: undefined, ...rest }
  return {
    state: order.state,
    refundState: refundStateOf(order),
    outcome: outcomeOf(order),
    settlement: 'settlement' in order ? order.settlement : null,
    transactionHash: 'receipt' in order ? order.receipt.transaction.toLowerCase() : null,
    refundTransactionHash: refundTransactionOf(order),
    iccidDigest: order.state === 'FULFILLED' ? (order.iccidDigest ?? null) : null,
    changedAt: order.changedAt,
    isFinished: isFinished(order),
    restMs: restOf(order),
    recipient: recipient ?? null,
    delivery: delivery ?? null,
    doc: JSON.stringify(storable(doc)),
  }
}

/** Adds the source to a document without one, written when the only supplier used the offer id as its product id. */
export function withSource(doc: unknown): object {
  const { item, ...rest } = doc as { readonly item: Omit<Item, 'source'> }
  const source: Source = { supplier: firstSupplier, product: item.offerId }
  return { ...rest, item: { source, ...item } }
}

/** The order in a row. Only rows written from `columnsOf` exist. */
export function orderOf({ version, recipient, delivery, doc }: OrderRow): Order {
  const { refund, ...rest }: { readonly refund?: RefundRow } = withSource(restored(doc))
  return {
    ...rest,
    ...(refund && refundOf(refund)),
    version,
    recipient: recipient ?? undefined,
    ...(delivery === null ? {} : { delivery }),
  } as Order
}

function outcomeOf(order: Order): 'DELIVER' | 'REFUND' | null {
  if (isRefunding(order)) return 'REFUND'
  return order.state === 'FULFILLED' ? 'DELIVER' : null
}

function refundTransactionOf(order: Order): string | null {
  if (!isRefunding(order) || order.payout?.state !== 'CONFIRMED') return null
  return order.payout.transaction.toLowerCase()
}
