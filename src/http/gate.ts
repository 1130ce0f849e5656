import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { bringsPayment, mayBringPayment } from './payment-headers.ts'
import {
  clientKeyOf,
  type Limits,
  type RateLimiter,
  type RateLimitResult,
  rateLimitHeaders,
} from './rate-limit.ts'
import { pathOf, type RouteTable } from './route-table.ts'

interface GateDeps {
  readonly limits: Limits
  readonly routes: RouteTable
}

/**
 * Admits a request, or refuses it before its body is read: no host (400), too many requests (429), an unknown path
 * (404), a method that the path does not support (405).
 */
export function guardRequests(app: FastifyInstance, { limits, routes }: GateDeps): void {
  app.addHook('onRequest', async (request, reply) => {
    requireHost(request)
    reply.header('x-request-id', request.id)
    const known = request.is404 ? routes.find(pathOf(request.raw.url ?? '')) : undefined
    const name = (known ?? request.routeOptions).config?.limit
    const refusal = name && (await takeFrom(limits[name], request, reply))
    if (refusal) await holdUp(limits, request, refusal)
    if (known !== undefined) throw methodNotAllowed(request.method, known.methods, reply)
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'There is nothing at this address.')
  })
}

/** RFC 9112, section 3.2. */
function requireHost({ headers, raw }: FastifyRequest): void {
  if (headers.host !== undefined || raw.httpVersion !== '1.1') return
  const message = 'HTTP/1.1 requires the header Host.'
  throw new Refusal('invalid_header', message, { parameter: 'Host' })
}

/** Counts a request, and sets the headers of the limit. @returns the refusal above the limit */
export async function takeFrom(
  limiter: RateLimiter,
  { ip }: FastifyRequest,
  reply: FastifyReply,
): Promise<Refusal | undefined> {
  return aboveLimit(limiter, await limiter.take(clientKeyOf(ip)), reply)
}

function aboveLimit(
  limiter: RateLimiter,
  taken: RateLimitResult,
  reply: FastifyReply,
): Refusal | undefined {
  reply.headers(rateLimitHeaders(limiter, taken))
  if (taken.allowed) return undefined
  const { limit, windowSeconds } = limiter
  const message = `More than ${limit} requests in ${windowSeconds} seconds; try again in ${taken.resetSeconds}.`
  return new Refusal('rate_limited', message, { retryAfterSeconds: taken.resetSeconds })
}

/**
 * Refuses a request that is above a limit, unless it may find the order that it has already paid for: a caller
 * who repeats a payment must not be told to wait as if there were no order. Looking for an order costs as much
 * as reading one, so it counts against the reading limit of the caller's address; nobody can use up that limit
 * for a buyer at another address.
 *
 * @throws Refusal the given one
 */
export async function holdUp(
  { reading }: Pick<Limits, 'reading'>,
  request: FastifyRequest,
  refusal: Refusal,
): Promise<void> {
  if (request.heldUp !== undefined) return
  const findsOrders = request.routeOptions.config?.findsOrders ?? false
  if (!findsOrders || !mayBringPayment(request)) throw refusal
  const looked = await reading.take(clientKeyOf(request.ip))
  if (!looked.allowed) throw refusal
  request.heldUp = refusal
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

/**
 * Limits how many invalid signatures of a client the store checks: a client that was refused too often has to wait
 * before the next one is checked. Accepted proofs do not count; proofs that could not be checked do.
 *
 * It counts by client address and never by the payer that a payment names: otherwise anyone could name someone
 * else as the payer and lock them out.
 */
export function limitRefusedProofs(app: FastifyInstance, limits: Limits): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!carriesProof(request)) return
    const refusal = await lookAtRefused(limits.refused, request, reply)
    if (refusal) await holdUp(limits, request, refusal)
  })
  app.addHook('onResponse', async (request, reply) => {
    if (carriesProof(request) && countsAsRefused(request, reply)) {
      await countRefused(limits.refused, request)
    }
  })
}

export async function lookAtRefused(
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Refusal | undefined> {
  const looked = await limiter.peek(clientKeyOf(request.ip))
  if (looked.allowed) return undefined
  reply.headers(rateLimitHeaders(limiter, looked))
  const { limit, windowSeconds } = limiter
  return new Refusal(
    'rate_limited',
    `More than ${limit} payments, sign-ins or ICCIDs were refused in ${windowSeconds} seconds; try again in ${looked.resetSeconds}.`,
    { retryAfterSeconds: looked.resetSeconds },
  )
}

export async function countRefused(limiter: RateLimiter, { ip }: FastifyRequest): Promise<void> {
  await limiter.take(clientKeyOf(ip))
}

/** A payment that could not be checked cost as many calls to the chain as a refused one. */
function countsAsRefused({ provesNothing }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return provesNothing || isNotAccepted(statusCode)
}

export function isNotAccepted(status: number): boolean {
  return status === 401 || status === 402
}

/** Whether a request has a signature, whose check costs computation and calls to the chain. */
function carriesProof(request: FastifyRequest): boolean {
  return bringsPayment(request) || (request.headers['sign-in-with-x'] ?? '') !== ''
}
