import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { holdUp } from './gate.ts'
import { bringsPayment } from './payment-headers.ts'
import { type Limits, type RateLimiter, rateLimitHeaders } from './rate-limit.ts'

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
