import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import { publicMinute, sendText } from '../../http/caching.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { fixedHeaders } from '../frame/page-headers.ts'
import { sitemapIndex, sitemapPart } from './sitemap.ts'

/** What is somebody's own: no search engine has any business there. */
const privatePaths = ['/orders/', '/pay/', '/find', '/reveal', '/approve/']

const limited = { config: { limit: 'reading' } } as const
/** A part is thousands of offers, as much work as a search. */
const laborious = { config: { limit: 'discovery' } } as const

/** What search engines read before they read pages: which not to, and where all the others are. */
export function routeSiteFiles(app: FastifyInstance, { liveCatalog, site }: WebDeps): void {
  const robots = [
    'User-agent: *',
    ...privatePaths.map((path) => `Disallow: ${path}`),
    'Allow: /',
    '',
    `Sitemap: ${site.url}/sitemap.xml`,
    '',
  ].join('\n')
  const parts = keptParts()
  const send = (request: FastifyRequest, reply: FastifyReply, text: string, type: string) => {
    reply.headers(fixedHeaders)
    return sendText(request, reply, { text, type, cacheControl: publicMinute })
  }
  app.get('/robots.txt', (request, reply) => send(request, reply, robots, 'text/plain'))
  app.get('/sitemap.xml', limited, (request, reply) =>
    send(request, reply, sitemapIndex(liveCatalog.current(), site.url), 'application/xml'),
  )
  app.get<{ Params: { part: string } }>(
    '/sitemap-:part(^\\d{1,4}).xml',
    laborious,
    (request, reply) => {
      const catalog = liveCatalog.current()
      const { part } = request.params
      const text = parts.of(catalog, part, () => sitemapPart(catalog, Number(part), site.url))
      if (text === undefined) throw new Refusal('not_found', 'The map has no such part.')
      return text.then((made) => send(request, reply, made, 'application/xml'))
    },
  )
}

/** Some megabytes at most: whoever asks for the same part, at one moment or later, gets the one text. */
const maxParts = 24

/** Keeps the parts that were asked for last, as long as their catalog is the one of now. */
function keptParts() {
  const texts = new Map<string, Promise<string>>()
  let of: Catalog | undefined
  return {
    of(catalog: Catalog, part: string, make: () => Promise<string> | undefined) {
      if (of !== catalog) texts.clear()
      of = catalog
      const text = texts.get(part) ?? make()
      if (text === undefined) return undefined
      texts.delete(part)
      texts.set(part, text)
      const [oldest = part] = texts.keys()
      if (texts.size > maxParts) texts.delete(oldest)
      return text
    },
  }
}
