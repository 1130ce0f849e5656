/** A transfer of USDC and the authorization that the token says it carried out. */
export interface Transfer {
  readonly transaction: string
  readonly from: string
  readonly to: string
  /** Atomic units. */
  readonly value: bigint
  /** Undefined when no `AuthorizationUsed` stands before it. */
  readonly nonce: string | undefined
}

/** What the supplier's own ledger says of one purchase. Money in US cents. */
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

/** An order as it stands in the database. */
export interface OrderRow {
  readonly id: string
  readonly state: string
  readonly refundState: string | null
  readonly payer: string
  readonly amount: bigint
  readonly offerId: string
  readonly transaction: string | null
  readonly refundTransaction: string | null
  /** Whether the store still expects something of the supplier for goods that nobody gets. */
  readonly supply: string | null
  /** What happened to it, in order. */
  readonly events: readonly string[]
}

/** What one purchase looked like to the one who made it. */
export interface Seen {
  readonly purchase: string
  readonly payer: string
  readonly kind: string
  readonly offerId: string
  /** The nonces of the payments that were signed for it; more than one only under one key. */
  readonly nonces: readonly string[]
  readonly orderIds: readonly string[]
  readonly goods: readonly { readonly orderId: string; readonly result: string }[]
  /** Orders of which the store said that their money went back. */
  readonly refunded: readonly string[]
  /** Payments that were answered with a demand for payment. */
  readonly refused: readonly { readonly nonce: string; readonly answer: string }[]
  /** Answers that a store which is up must not give. */
  readonly unexpected: readonly string[]
  /** Calls that no answer came to, and calls that were answered with "not now". */
  readonly unanswered: number
  readonly putOff: number
  /** When it was answered that the store takes no purchases, by the clock. */
  readonly pausedAt: readonly number[]
  readonly ending: 'delivered' | 'refunded' | 'unpaid' | 'left' | 'not told'
}

/** Everything that is known of a run, from four sides that do not know of each other. */
export interface Facts {
  readonly payments: readonly Transfer[]
  readonly refunds: readonly Transfer[]
  readonly supplied: readonly Supplied[]
  readonly orders: readonly OrderRow[]
  readonly seen: readonly Seen[]
  /** Nodes that ended though nobody killed them, with what they said. */
  readonly endedAlone: readonly string[]
  /** Looks at which a node did not sell, while only attackers were at work. */
  readonly pauses: readonly string[]
  /** Until when, by the clock, only attackers were at work. */
  readonly calmUntil: number
  /** Transactions that moved nothing, which the store paid for meanwhile. */
  readonly wastedByAttackers: readonly string[]
  /** What the nodes said of refunds held back by a cap, and of a float that did not suffice. */
  readonly bounded: readonly string[]
}
