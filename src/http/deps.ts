import type { FastifyBaseLogger } from 'fastify'
import type { ReadDeps } from '../api/deps.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { PageFor } from './error-edge.ts'
import type { LimitName, Limits } from './rate-limit.ts'

export interface AppDeps extends ReadDeps {
  readonly log: FastifyBaseLogger
  readonly now: () => Date
  /** The proxies that may name the client: a number of hops, or addresses. Never everyone, because clients can lie. */
  readonly trustProxy: number | readonly string[] | false
  readonly limits: Limits
  /** The maximum size of the cache of answers, in bytes; 0 disables it. Absent: its default. */
  readonly maxAnswerBytes?: number
  /** Makes the error pages for requests outside the routes of the pages. Absent: there is no website. */
  readonly pageFor?: PageFor
}

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: LimitName
    /** Whether errors of the route say in `charged` whether money moved. */
    charges?: boolean
    /**
     * Whether a request may carry a payment, for a route whose payments are not in a header. A body that has not
     * been read yet may contain one.
     */
    mayBringPayment?: (request: FastifyRequest) => boolean
    /** Whether a request above a limit is still admitted to find the order that it has already paid for. */
    findsOrders?: boolean
    /**
     * Whether the route is a health probe, answered from memory. Probes are never refused: otherwise a client that
     * shares the balancer's address could make a healthy process look dead.
     */
    isProbe?: boolean
  }

  interface FastifyRequest {
    /** Whether its payment or sign-in counts as refused, whatever the status of its answer. */
    provesNothing: boolean
    /** Set if the request is above a limit and may only find the order that it has already paid for. */
    heldUp: Refusal | undefined
    /** The order that it bought or found again, if its path does not name it. */
    orderId: string | undefined
  }
}
