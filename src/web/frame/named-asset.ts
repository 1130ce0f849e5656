import type { FastifyInstance } from 'fastify'
import { publicMinute, sendAnswer } from '../../http/caching.ts'
import { fixedText } from '../../http/fixed-text.ts'
import { fixedHeaders } from './page-headers.ts'

/** An address that names its content may be kept for as long as anything may. */
const immutable = 'public, max-age=31536000, immutable'

/**
 * Serves a text that stays the same while the store runs. Its smaller forms are made at once, so that
 * even the first visitor gets them.
 *
 * @returns its address, which changes when the text does
 */
export function routeNamed(
  app: FastifyInstance,
  path: string,
  { text, type }: { readonly text: string; readonly type: string },
): string {
  const found = fixedText(text)
  found.smaller('br')
  found.smaller('gzip')
  const address = `${path}?v=${found.answer.digest}`
  app.get(path, (request, reply) => {
    reply.headers(fixedHeaders)
    const cacheControl = request.raw.url === address ? immutable : publicMinute
    return sendAnswer(request, reply, { found, type, cacheControl })
  })
  return address
}
