import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import { kinds } from '../../catalog/good.ts'
import { publicMinute, sendText } from '../../http/caching.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { html, textOf } from '../frame/html.ts'
import { fixedHeaders } from '../frame/layout.ts'
import { buyPath, searchPath } from '../paths.ts'

/** Private pages, which search engines must not index. */
const privatePaths = ['/orders/', '/pay/', '/find', '/reveal', '/approve/']

const limited = { config: { limit: 'reading' } } as const
/** A part lists thousands of offers, so making it costs as much as a search. */
const laborious = { config: { limit: 'discovery' } } as const

/** The files that tell search engines which pages to read, and which not. */
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

/** A few megabytes at most. */
const maxParts = 24

/**
 * Keeps the parts that were requested last, until the catalog changes. Simultaneous requests for a part share one text.
 */
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

/**
 * The number of offers in one part. A part may have 50,000 URLs and 50 MB (sitemaps.org), but small ones are made
 * faster, and each is kept in memory until it is sent.
 */
export const offersPerPart = 2_000

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
const schema = 'http://www.sitemaps.org/schemas/sitemap/0.9'
/** Pages that are neither categories nor offers. */
const fixedPaths = ['/', '/how-it-works', '/terms', '/errors']

/** The index of the parts: the first part lists pages and categories, the others list offers. */
export function sitemapIndex(catalog: Catalog, siteUrl: string): string {
  const { readAt } = catalog
  const parts = 1 + Math.ceil(soldIn(catalog) / offersPerPart)
  const entries = Array.from({ length: parts }, (_, part) =>
    textOf(html`<sitemap><loc>${siteUrl}/sitemap-${part}.xml</loc>${lastmod(readAt)}</sitemap>
`),
  )
  return `${xml}<sitemapindex xmlns="${schema}">\n${entries.join('')}</sitemapindex>\n`
}

/**
 * One part of the sitemap. It is made in blocks, and other requests are served in between. Undefined if there is no
 * such part.
 */
export function sitemapPart(
  catalog: Catalog,
  part: number,
  siteUrl: string,
): Promise<string> | undefined {
  const from = (part - 1) * offersPerPart
  if (part === 0) return listed(categoryPaths(catalog), catalog.readAt, siteUrl)
  if (from < 0 || from >= soldIn(catalog)) return undefined
  return listed(offerPaths(catalog, from), catalog.readAt, siteUrl)
}

async function listed(
  paths: Iterable<readonly string[]>,
  readAt: Date,
  siteUrl: string,
): Promise<string> {
  const blocks: string[] = []
  for (const some of paths) {
    const urls = some.map((path) =>
      textOf(html`<url><loc>${siteUrl}${path}</loc>${lastmod(readAt)}</url>
`),
    )
    blocks.push(urls.join(''))
    await new Promise(setImmediate)
  }
  return `${xml}<urlset xmlns="${schema}">\n${blocks.join('')}</urlset>\n`
}

/** The categories: each kind, whole and by country. */
function* categoryPaths({ sold }: Catalog): Generator<string[]> {
  yield fixedPaths
  for (const kind of kinds) {
    const places = sold[kind].values(kind === 'esim' ? 'covers' : 'country')
    const categories = places.map((country) => searchPath({ kind, country }))
    yield [searchPath({ kind }), ...categories]
  }
}

function soldIn({ sold }: Catalog): number {
  return kinds.reduce((sum, kind) => sum + sold[kind].size, 0)
}

const offersPerBlock = 100

/** The pages of the offers of one part, of all that are sold, kind by kind. */
function* offerPaths({ sold }: Catalog, from: number): Generator<string[]> {
  let before = 0
  for (const kind of kinds) {
    const end = Math.min(before + sold[kind].size, from + offersPerPart)
    for (let at = Math.max(before, from); at < end; at += offersPerBlock) {
      const page = { offset: at - before, limit: Math.min(offersPerBlock, end - at) }
      yield sold[kind].search({}, page).offers.map((offer) => buyPath(offer))
    }
    before += sold[kind].size
  }
}

/** The time of the catalog; the store does not know when a single offer last changed. */
function lastmod(readAt: Date) {
  return html`<lastmod>${readAt.toISOString().replace(/\.\d+/, '')}</lastmod>`
}
