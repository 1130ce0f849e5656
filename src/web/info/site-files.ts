import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { publicMinute, sendText } from '../../http/caching.ts'
import { Refusal } from '../../primitives/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { fixedHeaders } from '../frame/page-headers.ts'
import { sitemapIndex, sitemapPart } from './sitemap.ts'

/** What is somebody's own: no search engine has any business there. */
const privatePaths = ['/orders/', '/pay/', '/find', '/reveal']

const limited = { config: { limit: 'reading' } } as const
/** A part is thousands of offers, as much work as a search. */
const laborious = { config: { limit: 'discovery' } } as const

/** What search engines read before they read pages: which not to, and where all the others are. */
export function routeSiteFiles(app: FastifyInstance, { shelf, site }: WebDeps): void {
  const robots = [
    'User-agent: *',
    ...privatePaths.map((path) => `Disallow: ${path}`),
    'Allow: /',
    '',
    `Sitemap: ${site.url}/sitemap.xml`,
    '',
  ].join('\n')
  const send = (request: FastifyRequest, reply: FastifyReply, text: string, type: string) => {
    reply.headers(fixedHeaders)
    return sendText(request, reply, { text, type, cacheControl: publicMinute })
  }
  app.get('/robots.txt', (request, reply) => send(request, reply, robots, 'text/plain'))
  app.get('/sitemap.xml', limited, (request, reply) =>
    send(request, reply, sitemapIndex(shelf.current(), site.url), 'application/xml'),
  )
  app.get<{ Params: { part: string } }>(
    '/sitemap-:part(^\\d{1,4}).xml',
    laborious,
    (request, reply) => {
      const part = sitemapPart(shelf.current(), Number(request.params.part), site.url)
      if (part === undefined) throw new Refusal('not_found', 'The map has no such part.')
      return reply
        .headers(fixedHeaders)
        .header('cache-control', publicMinute)
        .type('application/xml; charset=utf-8')
        .send(Readable.from(part))
    },
  )
}
