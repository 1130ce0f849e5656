import type { FastifyInstance } from 'fastify'
import { digestOf, sendAnswer } from '../../http/caching.ts'
import { fixedText } from '../../http/fixed-text.ts'
import { fixedHeaders } from './page-headers.ts'

const type = 'text/javascript'
/** A script's address names its content, so it may be kept while that address is in use. */
const publicDay = 'public, max-age=86400'

/** Serves one script. Its smaller forms are made at once, so that even the first visitor gets them. */
export function routeScript(app: FastifyInstance, name: string, text: string): string {
  const found = fixedText(text)
  found.smaller('br')
  found.smaller('gzip')
  app.get(`/${name}`, (request, reply) => {
    reply.headers(fixedHeaders)
    return sendAnswer(request, reply, { found, type, cacheControl: publicDay })
  })
  return `/${name}?v=${digestOf(text)}`
}
