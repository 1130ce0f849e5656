import type { FastifyInstance } from 'fastify'
import { afterAll, expect } from 'vitest'
import { type Answered, createDocumentCheck } from '../harness/documented.ts'

const findings = new Set<string>()
let check: ((answered: Answered) => string | undefined) | undefined

/**
 * Compares everything that a store answers in this file with `openapi.json`. What does not fit fails
 * the file, by its operation, status and path in the answer.
 */
export function documentedOnly(app: FastifyInstance): void {
  // The document that these answers go into is not made yet.
  if (process.env['OPENAPI'] === 'record') return
  check ??= createDocumentCheck()
  const of = check
  app.addHook('onSend', (request, reply, payload, done) => {
    const content = Buffer.isBuffer(payload) ? payload.toString() : payload
    // Answers in a smaller form are the same text, which was compared before it was made smaller.
    const isPlain = reply.getHeader('content-encoding') === undefined
    const fault = isPlain
      ? of({
          method: request.method,
          route: request.is404 ? undefined : request.routeOptions.url,
          url: request.raw.url ?? '',
          status: reply.statusCode,
          type: typeof content === 'string' ? String(reply.getHeader('content-type')) : undefined,
          text: typeof content === 'string' ? content : '',
        })
      : undefined
    if (fault !== undefined) findings.add(fault)
    done(null, payload)
  })
}

afterAll(() => {
  expect([...findings], 'answers that openapi.json does not describe').toEqual([])
})
