import type { Catalog } from '../../catalog/catalog.ts'
import { kinds } from '../../catalog/good.ts'
import { offersBetween } from '../../catalog/offer-records.ts'
import { html, textOf } from '../frame/html.ts'
import { buyPath } from '../shop/addresses.ts'
import { searchPath } from '../shop/search-address.ts'

/**
 * How many offers one part lists. It may have 50,000 addresses and 50 MB (sitemaps.org); small ones are
 * soon made, and are kept whole until they are sent.
 */
export const offersPerPart = 2_000

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
const schema = 'http://www.sitemaps.org/schemas/sitemap/0.9'
/** Pages that are no category and no offer. */
const fixedPaths = ['/', '/how-it-works', '/terms', '/errors']

/** The parts of the map: the first one lists pages and categories, the others the offers. */
export function sitemapIndex({ records, readAt }: Catalog, siteUrl: string): string {
  const parts = 1 + Math.ceil(records.count / offersPerPart)
  const entries = Array.from({ length: parts }, (_, part) =>
    textOf(html`<sitemap><loc>${siteUrl}/sitemap-${part}.xml</loc>${lastmod(readAt)}</sitemap>
`),
  )
  return `${xml}<sitemapindex xmlns="${schema}">\n${entries.join('')}</sitemapindex>\n`
}

/**
 * One part of the map, made block by block as the catalog keeps its offers, so that others are answered
 * in between. Undefined: there is no such part.
 */
export function sitemapPart(
  catalog: Catalog,
  part: number,
  siteUrl: string,
): Promise<string> | undefined {
  const from = (part - 1) * offersPerPart
  if (part === 0) return listed(categoryPaths(catalog), catalog.readAt, siteUrl)
  if (from < 0 || from >= catalog.records.count) return undefined
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
    const places = kind === 'esim' ? sold[kind].covered : sold[kind].countries
    const categories = places.values.map((country) => searchPath({ kind, country }))
    yield [searchPath({ kind }), ...categories]
  }
}

/** The pages of what is sold, out of the rows of one part. */
function* offerPaths({ records, sold }: Catalog, from: number): Generator<string[]> {
  const isSold = new Uint8Array(records.count)
  for (const kind of kinds) for (const row of sold[kind].rows) isSold[row] = 1
  for (const block of offersBetween(records, from, from + offersPerPart)) {
    yield block.filter(({ row }) => isSold[row] === 1).map(({ offer }) => buyPath(offer))
  }
}

/** The catalog is of that time; when an offer last changed is not kept. */
function lastmod(readAt: Date) {
  return html`<lastmod>${readAt.toISOString().replace(/\.\d+/, '')}</lastmod>`
}
