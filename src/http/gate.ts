import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { holdUp } from './held-up.ts'
import {
  type Limits,
  type RateLimiter,
  type RateLimitResult,
  rateLimitHeaders,
} from './rate-limit.ts'
import { pathOf, type RouteTable } from './route-table.ts'

export interface GateDeps {
  readonly limits: Limits
  readonly routes: RouteTable
}

/**
 * Admits a request, or refuses it before its body is read: no host (400), too many requests (429), an unknown path
 * (404), a method that the path does not support (405).
 */
export function guardRequests(app: FastifyInstance, { limits, routes }: GateDeps): void {
  app.addHook('onRequest', requireHost)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    const known = request.is404 ? routes.find(pathOf(request.raw.url ?? '')) : undefined
    const name = request.routeOptions.config?.limit ?? known?.config.limit
    const limiter = name && limits[name]
    const letIn = (taken?: RateLimitResult) => {
      const refusal = limiter && taken && aboveLimit(limiter, taken, reply)
      if (refusal) return holdUp(limits, request, refusal)
      if (known !== undefined) throw methodNotAllowed(request.method, known.methods, reply)
      return undefined
    }
    const taken = limiter?.take(clientKeyOf(request.ip))
    // A local counter answers synchronously; a promise would slow down every request.
    const held = taken instanceof Promise ? taken.then(letIn) : letIn(taken)
    if (held === undefined) return done()
    held.then(() => done(), done)
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'There is nothing at this address.')
  })
}

/** RFC 9112, section 3.2. */
function requireHost({ headers, raw }: FastifyRequest, _: FastifyReply, done: () => void): void {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    const message = 'HTTP/1.1 requires the header Host.'
    throw new Refusal('invalid_header', message, { parameter: 'Host' })
  }
  done()
}

/**
 * Sets the rate limit headers of the answer.
 *
 * @throws Refusal `rate_limited` if the limit is reached
 */
export function counted(limiter: RateLimiter, taken: RateLimitResult, reply: FastifyReply): void {
  const refusal = aboveLimit(limiter, taken, reply)
  if (refusal) throw refusal
}

/** The same, but returns the refusal, for callers that may still admit the request. */
export function aboveLimit(
  limiter: RateLimiter,
  taken: RateLimitResult,
  reply: FastifyReply,
): Refusal | undefined {
  reply.headers(rateLimitHeaders(limiter, taken))
  if (taken.allowed) return undefined
  const { limit, windowSeconds } = limiter
  return new Refusal(
    'rate_limited',
    `More than ${limit} requests in ${windowSeconds} seconds; try again in ${taken.resetSeconds}.`,
    { retryAfterSeconds: taken.resetSeconds },
  )
}

const choice = new Intl.ListFormat('en', { type: 'disjunction' })

function methodNotAllowed(
  method: string,
  methods: ReadonlySet<string>,
  reply: FastifyReply,
): Refusal {
  const allowed = [...methods, 'OPTIONS'].sort()
  reply.header('allow', allowed.join(', '))
  return new Refusal(
    'method_not_allowed',
    `${method} is not allowed here; use ${choice.format([...methods].sort())}.`,
  )
}
