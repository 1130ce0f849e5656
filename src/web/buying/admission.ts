import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutDesk } from '../../desk/checkout/desk.ts'
import { clientKeyOf } from '../../http/client-key.ts'
import { counted } from '../../http/gate.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'

/**
 * The desk for one visitor, who may begin so many checkouts. Each takes an address of the processor's
 * and is watched for days, paid or not. A form that comes back with faults is not counted.
 *
 * @returns a desk whose `start` throws Refusal `rate_limited` besides
 */
export function admitted(
  desk: CheckoutDesk,
  limiter: RateLimiter,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): CheckoutDesk {
  return {
    ...desk,
    async start(form) {
      const visitor = clientKeyOf(request.ip)
      counted(limiter, await limiter.look(visitor), reply)
      const started = await desk.start(form)
      await limiter.take(visitor)
      return started
    },
  }
}
