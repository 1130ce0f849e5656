import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../primitives/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { type LimitName, type Limits, rateLimitHeaders } from './rate-limit.ts'
import { pathOf, type RouteTable } from './route-table.ts'

export interface GateDeps {
  readonly limits: Limits
  readonly routes: RouteTable
}

/**
 * Lets a request in, or turns it away before its body is read: too many of them (429), a path that
 * is none (404), a method that the path has not (405).
 */
export function guardRequests(app: FastifyInstance, { limits, routes }: GateDeps): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const known = request.is404 ? routes.find(pathOf(request.raw.url ?? '')) : undefined
    const limit = request.routeOptions.config?.limit ?? known?.config.limit
    if (limit !== undefined) await count(limits, limit, { request, reply })
    if (known !== undefined) throw methodNotAllowed(request.method, known.methods, reply)
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'There is nothing at this address.')
  })
}

async function count(
  limits: Limits,
  name: LimitName,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<void> {
  const limiter = limits[name]
  const taken = await limiter.take(clientKeyOf(request.ip))
  reply.headers(rateLimitHeaders(limiter, taken))
  if (taken.allowed) return
  const { limit, windowSeconds } = limiter
  throw new Refusal(
    'rate_limited',
    `More than ${limit} requests in ${windowSeconds} seconds; try again in ${taken.resetSeconds}.`,
    { retryAfterSeconds: taken.resetSeconds },
  )
}

function methodNotAllowed(
  method: string,
  methods: ReadonlySet<string>,
  reply: FastifyReply,
): Refusal {
  const allowed = [...methods, 'OPTIONS'].sort()
  reply.header('allow', allowed.join(', '))
  return new Refusal(
    'method_not_allowed',
    `${method} is not allowed here; use ${[...methods].sort().join(' or ')}.`,
  )
}
