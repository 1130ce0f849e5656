import type { FastifyInstance } from 'fastify'

/**
 * One line a request, with the route's pattern and never the address as it came: queries, bodies
 * and headers carry phone numbers, tokens and signatures. What is turned away because there is too much
 * of it is counted in the metrics and leaves no line, or a flood would fill the disk.
 */
export function logAccess(app: FastifyInstance): void {
  // These fields are all that a line has, so there is nothing in it to look for and leave out: that
  // alone would take as long as the rest of the line.
  const log = app.log.child({}, { redact: [] })
  app.addHook('onResponse', (request, reply, done) => {
    if (request.isTurnedAway) return done()
    log.info(
      {
        reqId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ...(request.orderId === undefined ? {} : { order: request.orderId }),
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
}
