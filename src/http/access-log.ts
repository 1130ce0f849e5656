import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isCheckoutId, isOrderId } from '../lib/ids.ts'
import { withinRequest } from './request-scope.ts'

/**
 * Logs one line for each request, with the pattern of its route and never its URL: queries, bodies and
 * headers carry phone numbers, tokens and signatures. Requests answered 429 are only counted in the metrics,
 * because a flood of them would fill the disk.
 *
 * Events during a POST carry the id of the request as well; only a POST buys or claims anything.
 */
export function logAccess(app: FastifyInstance): void {
  // Not before the body is read: the events of reading it run in the scope of the connection.
  app.addHook('preHandler', (request, _, done) => {
    if (request.method === 'POST') withinRequest(request.id, done)
    else done()
  })
  // A line has only these fields, none of which needs redaction. Redaction would double the cost of a line.
  const log = app.log.child({}, { redact: [] })
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode === 429) return done()
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

/** The order that the request bought, found or named, and the checkout that it named. */
function recordIn({ orderId, params }: FastifyRequest): { order?: string; checkout?: string } {
  const named = Object.values(params ?? {}).map(String)
  const order = orderId ?? named.find(isOrderId)
  const checkout = named.find(isCheckoutId)
  return { ...(order && { order }), ...(checkout && { checkout }) }
}
