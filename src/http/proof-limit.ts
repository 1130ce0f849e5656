import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../primitives/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { type RateLimiter, rateLimitHeaders } from './rate-limit.ts'

/** How the store says that a payment or a sign-in was not accepted. */
const notAccepted: readonly number[] = [401, 402]

/**
 * Lets nobody have signature after signature checked: who was refused too often has to wait before
 * the next one is looked at. What was accepted does not count.
 *
 * It counts addresses and never the payer that a payment names: anybody can name anybody, and would
 * shut them out.
 */
export function limitRefusedProofs(app: FastifyInstance, limiter: RateLimiter): void {
  const look = async (request: FastifyRequest, reply: FastifyReply) => {
    const looked = await limiter.look(clientKeyOf(request.ip))
    if (looked.allowed) return
    reply.headers(rateLimitHeaders(limiter, looked))
    const { limit, windowSeconds } = limiter
    throw new Refusal(
      'rate_limited',
      `More than ${limit} payments or sign-ins were refused in ${windowSeconds} seconds; try again in ${looked.resetSeconds}.`,
      { retryAfterSeconds: looked.resetSeconds },
    )
  }
  const count = async ({ ip }: FastifyRequest) => {
    await limiter.take(clientKeyOf(ip))
  }
  // Nearly no request carries a proof, and those that do not wait for no promise.
  app.addHook('onRequest', (request, reply, done) => {
    if (!carriesProof(request)) return done()
    look(request, reply).then(() => done(), done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!carriesProof(request) || !notAccepted.includes(reply.statusCode)) return done()
    count(request).then(() => done(), done)
  })
}

/** A signature costs arithmetic and calls to the chain to check. This looks at every request. */
function carriesProof({ headers }: FastifyRequest): boolean {
  return isGiven(headers['payment-signature']) || isGiven(headers['sign-in-with-x'])
}

function isGiven(header: string | readonly string[] | undefined): boolean {
  return header !== undefined && header !== ''
}
