import { never } from '../../lib/never.ts'
import {
  isFinished,
  isRefunding,
  type Order,
  type PaidOrder,
  payoutStateOf,
  type Refunding,
  refundStateOf,
  restOf,
} from '../../orders/order.ts'
import { blockOf } from '../../payments/payment.ts'
import { restored, storable } from './records.ts'

/** The columns that every read of an order selects. */
export const orderColumns = 'version, recipient, delivery, doc, write_id'

/** The columns that an order is read from, and the id of the write that made the row. */
export interface StoredOrder {
  readonly version: number
  readonly recipient: string | null
  readonly delivery: string | null
  readonly doc: unknown
  readonly write_id: string
}

/** The columns of a write. `orderOf` restores everything except the version. The database sets leases and due times. */
export function columnsOf(order: Order) {
  const { version: _, recipient, delivery, ...doc } = { delivery: undefined, ...order }
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
    /** How long no worker needs the order, in milliseconds; the write then ends the lease. Null: it renews the lease. */
    restMs: restOf(order),
    recipient: recipient ?? null,
    delivery: delivery ?? null,
    /** JSON text: the order without its version and its sealed fields. */
    doc: JSON.stringify(storable(doc)),
  }
}

/** The order in a row. Only rows written from `columnsOf` exist. */
export function orderOf({ version, recipient, delivery, doc }: Omit<StoredOrder, 'write_id'>) {
  return {
    ...(restored(doc) as object),
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

/**
 * The entry in the history for the present state of an order: codes, transactions and states. Free text is left
 * out, because a supplier or carrier may repeat the buyer's phone number in it, and the history is never erased.
 * The detail is JSON text.
 */
export function eventOf(order: Order) {
  return {
    payoutState: isRefunding(order) ? payoutStateOf(order) : null,
    detail: JSON.stringify(storable(detailOf(order))),
  }
}

function detailOf(order: Order): object {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return {}
    case 'FULFILLED':
      return order.charge ? { charge: order.charge } : {}
    case 'PAYMENT_FAILED':
      return { code: order.code }
    case 'PAID':
      return paidDetail(order)
    case 'FULFILLING':
      return { ...paidDetail(order), ...supplierDetail(order) }
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return givenUpDetail(order)
    default:
      return never(order)
  }
}

function paidDetail({ receipt }: PaidOrder): object {
  return { transaction: receipt.transaction, block: blockOf(receipt) }
}

function supplierDetail({
  askedAgainAt,
  acceptedAt,
}: Pick<Refunding, 'askedAgainAt' | 'acceptedAt'>): object {
  return {
    ...(askedAgainAt === undefined ? {} : { askedAgain: true }),
    ...(acceptedAt === undefined ? {} : { accepted: true }),
  }
}

function givenUpDetail(order: Refunding): object {
  const { failure, payout, supply } = order
  return {
    trigger: failure.trigger,
    ...(failure.code === undefined ? {} : { code: failure.code }),
    supply: supply.state,
    ...supplierDetail(order),
    ...(payout?.state === 'CONFIRMED' ? { transaction: payout.transaction } : {}),
    ...(payout?.state === 'FAILED' ? { refundCode: payout.code } : {}),
  }
}
