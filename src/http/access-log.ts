import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isCheckoutId, isOrderId } from '../lib/ids.ts'

const scope = new AsyncLocalStorage<string>()

/** The id of the request that the current work belongs to; undefined in work that no POST started. */
export const currentRequest = (): string | undefined => scope.getStore()

/**
 * Logs one line for each request, with the pattern of its route and never its URL: queries, bodies and headers carry
 * phone numbers, tokens and signatures. Requests that no limit bounds are only counted in the metrics.
 *
 * Events during a POST carry the id of the request as well; only a POST buys or claims anything.
 */
export function logAccess(app: FastifyInstance): void {
  // Not before the body is read: the events of reading it run in the scope of the connection.
  app.addHook('preHandler', (request, _, done) => {
    if (request.method === 'POST') scope.run(request.id, done)
    else done()
  })
  // A line has only these fields, none of which needs redaction. Redaction would double the cost of a line.
  const log = app.log.child({}, { redact: [] })
  app.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    if (isBounded(request, status)) {
      const { id: reqId, method, routeOptions } = request
      const ms = Math.round(elapsedTime * 10) / 10
      const line = { reqId, method, route: routeOptions.url, status, ...recordIn(request), ms }
      log.info(line, 'request')
    }
    done()
  })
}

/** Whether a client can cause only so many such lines in a minute; a flood of others would fill the disk. */
function isBounded({ method, routeOptions }: FastifyRequest, status: number): boolean {
  if (routeOptions.config?.limit !== undefined) return status !== 429
  // Accepted webhooks: nobody but a supplier or the processor can send one.
  return method === 'POST' && status < 400
}

/** The order that the request bought, found or named, and the checkout that it named. */
function recordIn({ orderId, params }: FastifyRequest): { order?: string; checkout?: string } {
  const named = Object.values(params ?? {}).map(String)
  const order = orderId ?? named.find(isOrderId)
  const checkout = named.find(isCheckoutId)
  return { ...(order && { order }), ...(checkout && { checkout }) }
}
