import type { FastifyBaseLogger } from 'fastify'
import type { Charge } from '../api/buying/charge.ts'
import type { ReadDeps } from '../api/deps.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { PageFor } from './error-edge.ts'
import type { LimitName, Limits } from './rate-limit.ts'
import type { TurnBounds } from './turns.ts'

/** What every part of the HTTP server shares. */
export interface AppDeps extends ReadDeps {
  readonly log: FastifyBaseLogger
  readonly now: () => Date
  readonly monotonicMs: () => number
  /** Hops or addresses of proxies that may name the client. Never everyone: they could lie. */
  readonly trustProxy: number | readonly string[] | false
  readonly limits: Limits
  /** What one client address may have at a time. Absent: the usual bounds. */
  readonly turns?: TurnBounds
  /** How many bytes of finished answers are kept; 0 keeps none. Absent: the usual bound. */
  readonly maxAnswerBytes?: number
  /** Makes the pages of errors that no page's own routes answer; absent: there is no website. */
  readonly pageFor?: PageFor
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which limit a route counts against. Absent: none. */
    limit?: LimitName
    /** Whether the route is about money, so that its errors say in `charged` if any moved. */
    charges?: boolean
    /**
     * Whether a request may bring a payment, where that is not told by its header. A payment in a body
     * that was not read yet may be there.
     */
    mayBringPayment?: (request: FastifyRequest) => boolean
    /** Whether a request above a limit is still let in to find the order that it has already paid for. */
    findsOrders?: boolean
    /**
     * Whether it says how the process fares, from memory. It is never refused: who keeps an address busy
     * would end a healthy process for the balancer behind it.
     */
    isProbe?: boolean
  }

  interface FastifyRequest {
    /** What is known of its money, once the purchase has looked for an earlier order. */
    charge: Charge | undefined
    /** Set if it is above a limit and may only find the order that it has already paid for. */
    heldUp: Refusal | undefined
    /** The order that it bought, or found again, where its path does not name it. */
    orderId: string | undefined
    /** Whether it was refused because there were too many. */
    isTurnedAway: boolean
  }
}
