import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Answered, createDocumentCheck } from '../harness/documented.ts'

/** What did not fit, in this file; `every-answer.ts` fails it when there is anything. */
export const findings = new Set<string>()
let check: ((answered: Answered) => string | undefined) | undefined

/**
 * Compares everything that a store answers with `openapi.json`. What does not fit is kept, by its
 * operation, status and path in the answer.
 */
export function documentedOnly(app: FastifyInstance): void {
  // The document that these answers go into is not made yet.
  if (process.env['OPENAPI'] === 'record') return
  check ??= createDocumentCheck()
  const of = check
  app.addHook('onSend', (request, reply, payload, done) => {
    const fault = of(answeredBy(request, reply, payload))
    if (fault !== undefined) findings.add(fault)
    done(null, payload)
  })
}

function answeredBy(request: FastifyRequest, reply: FastifyReply, payload: unknown): Answered {
  const text = Buffer.isBuffer(payload) ? payload.toString() : payload
  // What comes in a smaller form was compared when it came plain, before the smaller one was made.
  const isReadable = typeof text === 'string' && !reply.hasHeader('content-encoding')
  return {
    method: request.method,
    route: request.is404 ? undefined : request.routeOptions.url,
    url: request.raw.url ?? '',
    status: reply.statusCode,
    ...(isReadable
      ? { type: String(reply.getHeader('content-type')), text }
      : { type: undefined, text: '' }),
  }
}
