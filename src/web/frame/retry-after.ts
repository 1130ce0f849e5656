import type { FastifyReply } from 'fastify'

/** Says when the same request may succeed, where that is known. */
export function withRetryAfter(
  reply: FastifyReply,
  { retryAfterSeconds }: { readonly retryAfterSeconds?: number | undefined },
): FastifyReply {
  if (retryAfterSeconds === undefined) return reply
  return reply.header('retry-after', String(retryAfterSeconds))
}
