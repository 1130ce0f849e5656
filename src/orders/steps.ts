import type { Kind } from '../catalog/offer.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Listing, Rails } from '../payments/ports.ts'
import type { Digest } from '../secrets/tokens.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Held, Suppliers } from '../suppliers/supplier.ts'
import type { Denylist } from './denylist.ts'
import { type Order, supplierReferenceOf } from './order.ts'
import type { PayoutLimits } from './ports.ts'
import type { Reporter } from './report.ts'
import type * as workflow from './workflow.ts'
import { leaseMs } from './workflow.ts'

/** How long things may take. All in milliseconds. */
interface Policy {
  /** From payment to `EXPIRED`, as the manifest publishes it: `fulfillment_deadline_seconds`. */
  readonly deliverWithinMs: number
  /** After `EXPIRED`, how long the refund waits for the supplier's final word (docs/contributors/decisions/004). */
  readonly refundGraceMs: number
  /** How long a purchase call stays open for its goods. */
  readonly patienceMs: number
}

export interface StepDeps {
  readonly now: () => Date
  readonly rails: Rails
  readonly suppliers: Suppliers
  /** Orders that the supplier accepted, which this process heard and may not have put on record yet. */
  readonly accepted: Set<OrderId>
  readonly payoutLimits: PayoutLimits
  readonly denylist: Denylist
  readonly vault: Vault
  readonly digest: Digest
  readonly policy: Policy
  /** What a facilitator may list of a sale of this kind; absent if the store uses none. */
  readonly listingOf?: ((kind: Kind) => Listing | undefined) | undefined
  readonly report: Reporter
}

/** Sent this soon after it is on record, or not at all: a worker that was paused must not send what was given up. */
export const placeLeavesWithinMs = 15_000

/** How long the supplier is asked again for a purchase that it does not show; milliseconds. */
export const placeWithinMs = 60_000

/** A purchase not shown this long after the last request counts as never received; milliseconds. */
export const supplierSettlesMs = leaseMs + 30_000

export function lookUp({ suppliers }: StepDeps, { id, item }: Order): Promise<Held> {
  return suppliers.at(item.source).lookup(item.kind, supplierReferenceOf(id))
}

export type Step<To extends Order = Order> = workflow.Step<To, Order>
