import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutService } from '../../api/checkout/service.ts'
import { clientKeyOf } from '../../http/client-key.ts'
import { counted } from '../../http/gate.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'

/**
 * The checkout service for one visitor, who may begin so many checkouts, and have so many unpaid ones. Each takes an address of the processor's
 * and is watched for days, paid or not. A form that comes back with faults is not counted. The place is
 * taken before the checkout is made, so that no two take the last one.
 *
 * @returns a service whose `start` throws Refusal `rate_limited` and `budget_spent` besides
 */
export function admitted(
  checkouts: CheckoutService,
  limiter: RateLimiter,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): CheckoutService {
  const client = clientKeyOf(request.ip)
  return {
    ...checkouts,
    start: (form) =>
      checkouts.start({ ...form, client }, async () =>
        counted(limiter, await limiter.take(client), reply),
      ),
  }
}
