import type { Kind } from '../catalog/offer.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Listing, Rails } from '../payments/ports.ts'
import type { Digest } from '../secrets/tokens.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Order } from './order.ts'
import { leaseMs, type PayoutLimits, type Supplier } from './ports.ts'
import type { Reporter } from './report.ts'

/** How long things may take. All in milliseconds. */
export interface Policy {
  /** From payment to `EXPIRED`, as the manifest publishes it: `fulfillment_deadline_seconds`. */
  readonly deliverWithinMs: number
  /** After `EXPIRED`, how long the refund waits for the supplier's final word (docs/decisions/004). */
  readonly refundGraceMs: number
  /** How long a purchase call stays open for its goods. */
  readonly patienceMs: number
}

/** What a step may use. Time is told, never taken. */
export interface StepDeps {
  readonly now: () => Date
  readonly rails: Rails
  readonly supplier: Supplier
  /** What this process heard the supplier accept and could not put on record yet. */
  readonly accepted: Set<OrderId>
  readonly payoutLimits: PayoutLimits
  readonly vault: Vault
  /** A keyed digest, to find a value again that is only stored sealed. */
  readonly digest: Digest
  readonly policy: Policy
  /** What a facilitator may list of a sale of this kind; absent where none is asked. */
  readonly listingOf?: ((kind: Kind) => Listing | undefined) | undefined
  readonly report: Reporter
}

/**
 * How soon after it was put on record a request to the supplier leaves, or it does not leave at all: a
 * worker that stood still meanwhile must not send what the rest of the store has given up since.
 */
export const placeLeavesWithinMs = 15_000

/**
 * A purchase that the supplier never said it took, and does not show this long after the last request,
 * is taken for one that it never heard of.
 */
export const supplierSettlesMs = leaseMs + 30_000

/**
 * The one next thing to do for an order.
 *
 * `intend` commits the order first and only then runs the effect, so that whatever the effect does
 * outside is already on record when a crash interrupts it.
 */
export type Step<To extends Order = Order> =
  | { readonly type: 'move'; readonly to: To }
  | Intention<To>
  | Lesson<To>
  /** Nothing can be done before that many milliseconds have passed. */
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'rest' }

interface Intention<To extends Order> {
  readonly type: 'intend'
  readonly to: To
  /** Gets `to` as it was saved. A method, so that a step towards one state is a step. */
  effect(intended: To): Promise<Step>
}

/**
 * Something that the outside has said and that stays true: it is written whoever moved the order
 * meanwhile, because nobody may ever be told it again.
 */
interface Lesson<To extends Order> {
  readonly type: 'learn'
  readonly to: To
  /** What it makes of the order as it is now, or undefined where it adds nothing. */
  readonly onto: (stored: Order) => Order | undefined
  effect(learnt: To): Promise<Step>
}

export const rest: Step<never> = { type: 'rest' }

export function wait(ms: number): Step<never> {
  return { type: 'wait', ms }
}

export function moveTo<To extends Order>(to: To): Step<To> {
  return { type: 'move', to }
}

export function intend<To extends Order>(
  to: To,
  effect: (intended: To) => Promise<Step>,
): Step<To> {
  return { type: 'intend', to, effect }
}

export function learn<To extends Order>(
  to: To,
  onto: (stored: Order) => Order | undefined,
  effect: (learnt: To) => Promise<Step>,
): Step<To> {
  return { type: 'learn', to, onto, effect }
}

/**
 * How long to wait before asking again about something that began at `since`: often while it is
 * fresh, because nearly all of it ends within seconds, rarely when it is old.
 */
export function pollDelay(since: Date, now: Date, maxMs = 15_000): number {
  const ageMs = now.getTime() - since.getTime()
  return Math.min(maxMs, Math.max(250, ageMs / 4))
}
