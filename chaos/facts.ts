/** A transfer of USDC, with the authorization that it carried out according to the token. */
export interface Transfer {
  readonly transaction: string
  readonly from: string
  readonly to: string
  /** Atomic units. */
  readonly value: bigint
  /** Undefined if no `AuthorizationUsed` precedes it. */
  readonly nonce: string | undefined
}

/** One purchase in the supplier's own ledger. Money in US cents. */
export interface Supplied {
  readonly transactionId: string
  readonly offerId: string
  readonly status: string
  readonly cost: number
  readonly charged: number
  readonly refunded: number
  readonly deliveries: number
  readonly secrets: readonly string[]
}

/** An order in the database. */
export interface OrderRow {
  readonly id: string
  readonly state: string
  readonly refundState: string | null
  readonly payer: string
  readonly amount: bigint
  readonly offerId: string
  readonly transaction: string | null
  readonly refundTransaction: string | null
  /** The state of the supplier's side of an order that failed or expired: whether goods may still come. */
  readonly supply: string | null
  /** Its events, the oldest first. */
  readonly events: readonly string[]
}

/** One purchase as its buyer saw it. */
export interface Seen {
  readonly purchase: string
  readonly payer: string
  readonly kind: string
  readonly offerId: string
  /** The nonces of its signed payments; more than one only under the same idempotency key. */
  readonly nonces: readonly string[]
  readonly orderIds: readonly string[]
  readonly goods: readonly { readonly orderId: string; readonly result: string }[]
  /** Orders that the store reported as refunded. */
  readonly refunded: readonly string[]
  /** Payments that were answered with 402. */
  readonly refused: readonly { readonly nonce: string; readonly answer: string }[]
  /** Answers that a running store must not give. */
  readonly unexpected: readonly string[]
  /** The numbers of calls without an answer, and of calls that were put off with 503 or 408. */
  readonly unanswered: number
  readonly putOff: number
  /** When the store answered `store_paused`; epoch milliseconds. */
  readonly pausedAt: readonly number[]
  readonly ending: 'delivered' | 'refunded' | 'unpaid' | 'left' | 'not told'
}

/** Everything that is known of a run, from four independent sides. */
export interface Facts {
  readonly payments: readonly Transfer[]
  readonly refunds: readonly Transfer[]
  readonly supplied: readonly Supplied[]
  readonly orders: readonly OrderRow[]
  readonly seen: readonly Seen[]
  /** Nodes that ended without being killed, with their exit code or signal. */
  readonly endedAlone: readonly string[]
  /** Looks at which a node did not sell, while only attackers and buyers were active. */
  readonly pauses: readonly string[]
  /** Until when there were no kills and no faults; epoch milliseconds, 0 without attackers. */
  readonly calmUntil: number
}
