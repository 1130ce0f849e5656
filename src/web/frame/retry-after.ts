import type { FastifyReply } from 'fastify'

/** Sets `Retry-After` if it is known when the same request may succeed. */
export function withRetryAfter(
  reply: FastifyReply,
  { retryAfterSeconds }: { readonly retryAfterSeconds?: number | undefined },
): FastifyReply {
  if (retryAfterSeconds === undefined) return reply
  return reply.header('retry-after', String(retryAfterSeconds))
}
