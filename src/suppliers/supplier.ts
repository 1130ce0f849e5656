import type { Charge, Delivery, Kind, Recipient, Source } from '../catalog/offer.ts'
import type { OfferSource } from '../catalog/ports.ts'

/** A purchase at a supplier. The store makes the reference, which is the supplier's idempotency key. */
export interface SupplierOrder {
  readonly reference: string
  readonly kind: Kind
  readonly product: string
  readonly recipient: Recipient
  /** Whether it may have been placed before. Then a refusal may only mean that it was. */
  readonly isRepeat: boolean
  /** In the supplier's minor units; only for RANGE offers. */
  readonly value?: number
  /** The request is sent before then or never: later, a lookup without result counts as proof of no purchase. */
  readonly notAfter: Date
}

/** The code with which every supplier declines a purchase that the store's wallet there cannot pay. */
export const noFundsCode = 'INSUFFICIENT_FUNDS'

/** Yes, no, or not known. Unknown is not no. */
export type Placed =
  | { readonly outcome: 'held' }
  | { readonly outcome: 'declined'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string }

export type Held =
  | { readonly outcome: 'delivered'; readonly delivery: Delivery; readonly charge?: Charge }
  /** Bought and charged, but not all of the goods are shown, now or ever; `delivery` has those that are. */
  | { readonly outcome: 'done'; readonly delivery?: Delivery; readonly charge?: Charge }
  | { readonly outcome: 'declined'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'pending' }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'unknown'; readonly reason: string }

export type Cancelled =
  | { readonly outcome: 'cancelled' }
  /** Accepted by the supplier, which has not decided yet. */
  | { readonly outcome: 'pending' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string }

export interface Supplier {
  /** Places the purchase. Safe to repeat: the same reference never buys twice. */
  place(order: SupplierOrder): Promise<Placed>
  lookup(kind: Kind, reference: string): Promise<Held>
  /** Safe to repeat. `refused` if the kind cannot be given back; that of a repeat may mean that the first was taken. */
  cancel(kind: Kind, reference: string, isRepeat: boolean): Promise<Cancelled>
  /** Whether the supplier knows this eSIM as one of the store's, so that it can be recharged. */
  knowsIccid(iccid: string): Promise<'yes' | 'no' | 'unknown'>
}

export interface SupplierPurchase {
  /** The store's own; see `supplierReferenceOf`. */
  readonly reference: string
  readonly kind: Kind
  readonly product: string
  readonly brandName: string
  readonly country?: string
  /** `returned`: it was delivered, and the supplier took it back. */
  readonly state: 'delivered' | 'returned' | 'pending' | 'failed'
  readonly cost: { readonly amount: number; readonly currency: string; readonly divisor: number }
}

export type SupplierHolds =
  | { readonly outcome: 'none' }
  | { readonly outcome: 'unknown'; readonly reason: string }
  | {
      readonly outcome: 'found'
      readonly purchase: SupplierPurchase
      readonly delivery?: Delivery
    }

export interface SupplierStatement {
  /** Every purchase of this account, page by page. Throws if the list is not whole. */
  purchases(): AsyncIterable<readonly SupplierPurchase[]>
  purchase(kind: Kind, reference: string): Promise<SupplierHolds>
}

export type Balance =
  | {
      readonly outcome: 'known'
      readonly available: number
      readonly currency: string
      readonly divisor: number
    }
  | { readonly outcome: 'unknown'; readonly reason: string }

export interface SupplierAccess {
  /** Where its API is, version included. */
  readonly url: string
  readonly key: string
  /** Without one, orders are only polled. */
  readonly webhook?: { readonly header: string; readonly value: string } | undefined
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface ConnectedSupplier extends Supplier {
  balance(): Promise<Balance>
  acceptsKey(): Promise<'yes' | 'no' | 'unknown'>
  readonly statement: SupplierStatement
  readonly webhook: {
    isGenuine(headers: Headers): boolean
    referenceIn(body: unknown): string | undefined
  }
}

export interface SupplierIntegration {
  /** The prefix of the variables that say how it is reached. */
  readonly variables: string
  /** Whether this is the supplier's test mode, which takes orders and delivers nothing. */
  isTest?(access: Pick<SupplierAccess, 'url' | 'key'>): boolean
  connect(access: SupplierAccess, now: () => Date, signal?: AbortSignal): ConnectedSupplier
  offersOf(access: SupplierAccess): OfferSource
}

/** How long a purchase waits for one answer: much less than the lease of an order; milliseconds. */
export const supplierTimeoutMs = 10_000
/** The same for a page of a supplier's list, which is large and which no buyer waits for. */
export const listTimeoutMs = 30_000

export interface Suppliers {
  at(source: Pick<Source, 'supplier'>): Supplier
}

/** An order whose supplier this process does not know waits for a process that does, or expires and is refunded. */
export function supplierRouter(suppliers: ReadonlyMap<string, Supplier>): Suppliers {
  return { at: ({ supplier }) => suppliers.get(supplier) ?? notConnected(supplier) }
}

function notConnected(name: string): Supplier {
  const unknown = async () => ({
    outcome: 'unknown' as const,
    reason: `the supplier ${name} is not connected`,
  })
  return {
    place: unknown,
    lookup: unknown,
    cancel: unknown,
    knowsIccid: async () => 'unknown',
  }
}
