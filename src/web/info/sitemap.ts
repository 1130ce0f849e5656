import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import { kinds } from '../../catalog/offer.ts'
import { fixedText, publicMinute, sendText } from '../../http/caching.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { html, textOf } from '../frame/html.ts'
import { fixedHeaders } from '../frame/layout.ts'
import { buyPath, searchPath } from '../paths.ts'

const privatePaths = ['/orders/', '/pay/', '/find', '/reveal', '/approve']
const fixedPaths = ['/', '/how-it-works', '/terms', '/errors']

/** A part may have 50,000 URLs (sitemaps.org), but small ones hold up no other request. */
export const offersPerPart = 2_000

export function routeSiteFiles(app: FastifyInstance, { liveCatalog, site }: WebDeps): void {
  const robots = [
    'User-agent: *',
    ...privatePaths.map((path) => `Disallow: ${path}`),
    'Allow: /',
    '',
    `Sitemap: ${site.url}/sitemap.xml`,
    '',
  ].join('\n')
  const send = (request: FastifyRequest, reply: FastifyReply, text: string, type: string) => {
    const sent = { ...fixedText(text), type, cacheControl: publicMinute }
    return sendText(request, reply.headers(fixedHeaders), sent)
  }
  app.get('/robots.txt', (request, reply) => send(request, reply, robots, 'text/plain'))
  app.get('/sitemap.xml', { config: { limit: 'reading' } }, (request, reply) =>
    send(request, reply, sitemapIndex(liveCatalog.current(), site.url), 'application/xml'),
  )
  // Making a part costs as much as a search.
  const config = { limit: 'discovery' } as const
  app.get('/sitemap-:part(^\\d{1,4}).xml', { config }, (request, reply) => {
    const { part } = request.params as { part: string }
    const text = sitemapPart(liveCatalog.current(), Number(part), site.url)
    if (text === undefined) throw new Refusal('not_found', 'The map has no such part.')
    return send(request, reply, text, 'application/xml')
  })
}

/** The index of the parts: the first part lists pages and categories, the others list offers. */
export function sitemapIndex(catalog: Catalog, siteUrl: string): string {
  const sold = kinds.reduce((sum, kind) => sum + catalog.sold[kind].size, 0)
  const parts = 1 + Math.ceil(sold / offersPerPart)
  const paths = Array.from({ length: parts }, (_, part) => `/sitemap-${part}.xml`)
  return listOf(['sitemapindex', 'sitemap'], paths, { catalog, siteUrl })
}

export function sitemapPart(catalog: Catalog, part: number, siteUrl: string): string | undefined {
  const from = (part - 1) * offersPerPart
  const paths = part === 0 ? categoryPaths(catalog) : offerPaths(catalog, from)
  return paths.length === 0 ? undefined : listOf(['urlset', 'url'], paths, { catalog, siteUrl })
}

/** The date is that of the catalog; the store does not know when a single offer last changed. */
function listOf(
  [list, entry]: readonly [list: string, entry: string],
  paths: readonly string[],
  { catalog, siteUrl }: { readonly catalog: Catalog; readonly siteUrl: string },
): string {
  const changed = catalog.readAt.toISOString().replace(/\.\d+/, '')
  const entries = paths.map((path) => {
    const location = textOf(html`<loc>${siteUrl}${path}</loc><lastmod>${changed}</lastmod>`)
    return `<${entry}>${location}</${entry}>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<${list} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join('')}</${list}>
`
}

function categoryPaths({ sold }: Catalog): readonly string[] {
  const categories = kinds.flatMap((kind) => {
    const places = sold[kind].values(kind === 'esim' ? 'covers' : 'country')
    return [searchPath({ kind }), ...places.map((country) => searchPath({ kind, country }))]
  })
  return [...fixedPaths, ...categories]
}

function offerPaths({ sold }: Catalog, from: number): readonly string[] {
  let before = 0
  return kinds.flatMap((kind) => {
    const offset = Math.max(0, from - before)
    const limit = Math.max(0, from + offersPerPart - Math.max(from, before))
    before += sold[kind].size
    return sold[kind].search({}, { offset, limit }).offers.map((offer) => buyPath(offer))
  })
}
