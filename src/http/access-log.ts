import type { FastifyInstance } from 'fastify'

/**
 * One line a request, with the route's pattern and never the address as it came: queries, bodies
 * and headers carry phone numbers, tokens and signatures.
 */
export function logAccess(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
}
