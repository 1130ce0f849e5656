import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isCheckoutId, isOrderId } from '../lib/ids.ts'
import { withinRequest } from './request-scope.ts'

/**
 * One line a request, with the route's pattern and never the address as it came: queries, bodies
 * and headers carry phone numbers, tokens and signatures. What is turned away because there is too much
 * of it is counted in the metrics and leaves no line, or a flood would fill the disk.
 *
 * Events that a POST meets have its id as well, since only these buy or claim anything.
 */
export function logAccess(app: FastifyInstance): void {
  // After the body was read, whose events belong to the connection.
  app.addHook('preHandler', (request, _, done) => {
    if (request.method === 'POST') withinRequest(request.id, done)
    else done()
  })
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
        ...recordIn(request),
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
}

/** The order that the request bought, found or names, and the checkout that it names. */
function recordIn({ orderId, params }: FastifyRequest): { order?: string; checkout?: string } {
  const named = Object.values(params ?? {}).map(String)
  const order = orderId ?? named.find(isOrderId)
  const checkout = named.find(isCheckoutId)
  return { ...(order && { order }), ...(checkout && { checkout }) }
}
