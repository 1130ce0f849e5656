import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refusal.ts'

/** The maximum size of a body, in bytes. */
export const maxBody = 16 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Takes JSON bodies only. An empty body is undefined, because indexers probe purchases with one. Keys that
 * would reach an object's prototype are refused.
 */
export function takeJsonBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _, done) => {
    const once = onceOf(request.headers['content-type'] ?? '')
    if (once !== undefined) request.headers['content-type'] = once
    done()
  })
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (body.length === 0) return done(null, undefined)
      const text = textOf(body)
      if (text === undefined) return done(notJson('The body is not UTF-8 text.'))
      return parse(request, text, (error, value) =>
        error ? done(notJson('The body is not valid JSON.')) : done(null, value),
      )
    },
  )
}

/**
 * The content type that a header repeats: some libraries add their own to the caller's, joined by a comma.
 * Undefined if the header has only one, or different ones.
 */
function onceOf(header: string): string | undefined {
  const [first = '', ...others] = header.split(',').map((type) => type.trim())
  const isRepeated = others.every((type) => type.toLowerCase() === first.toLowerCase())
  return others.length > 0 && isRepeated ? first : undefined
}

function textOf(body: Buffer): string | undefined {
  try {
    return utf8.decode(body)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function notJson(message: string): Refusal {
  return new Refusal('invalid_json', message)
}
