import type { FastifyReply } from 'fastify'

/** For what is for one visitor: nobody keeps it, and no index lists it. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex, nofollow')
}
