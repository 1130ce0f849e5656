import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { holdUp } from './held-up.ts'
import { bringsPayment } from './payment-headers.ts'
import { type Limits, type RateLimiter, rateLimitHeaders } from './rate-limit.ts'

/** The statuses of answers to a payment or a sign-in that was not accepted. */
const notAccepted: readonly number[] = [401, 402]

/**
 * Limits how many invalid signatures of a client the store checks: a client that was refused too often has to wait
 * before the next one is checked. Accepted proofs do not count; proofs that could not be checked do.
 *
 * It counts by client address and never by the payer that a payment names: otherwise anyone could name someone
 * else as the payer and lock them out.
 */
export function limitRefusedProofs(app: FastifyInstance, limits: Limits): void {
  // Few requests carry a proof. The others must not wait for a promise.
  app.addHook('onRequest', (request, reply, done) => {
    if (!carriesProof(request)) return done()
    lookAtRefused(limits.refused, request, reply)
      .then((refusal) => refusal && holdUp(limits, request, refusal))
      .then(() => done(), done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!carriesProof(request) || !countsAsRefused(request, reply)) return done()
    countRefused(limits.refused, request).then(() => done(), done)
  })
}

/** The refusal for a client whose proofs were refused too often. */
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

/** Counts a proof of this client that was not accepted. */
export async function countRefused(limiter: RateLimiter, { ip }: FastifyRequest): Promise<void> {
  await limiter.take(clientKeyOf(ip))
}

/** A payment that could not be checked cost as many calls to the chain as a refused one. */
function countsAsRefused({ provesNothing }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return provesNothing || isNotAccepted(statusCode)
}

/** Whether a status says that a payment or a sign-in was not accepted. */
export function isNotAccepted(status: number): boolean {
  return notAccepted.includes(status)
}

/** Whether a request has a signature, whose check costs computation and calls to the chain. Runs on every request. */
function carriesProof(request: FastifyRequest): boolean {
  return bringsPayment(request) || (request.headers['sign-in-with-x'] ?? '') !== ''
}
