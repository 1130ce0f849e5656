import { describe, expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixturePricing, shopOffers, voucher } from '../../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { breakout, read, website } from '../frame/website.fixture.ts'
import { textsIn } from '../texts/texts.ts'
import { termsPage } from './prose-pages.ts'
import { offersPerPart, sitemapIndex, sitemapPart } from './sitemap.ts'

const t = textsIn('en')

const { get } = website()

describe('the map of the site', () => {
  test('is an index whose parts name every page once, and only what is sold', async () => {
    const index = (await get('/sitemap.xml')).body
    const parts = [...index.matchAll(/<loc>https:\/\/kiosk\.example([^<]+)<\/loc>/g)]
    expect(parts.map(([, path]) => path)).toEqual(['/sitemap-0.xml', '/sitemap-1.xml'])
    const answers = await Promise.all(parts.map(([, path = '']) => get(path)))
    const paths = answers.flatMap(({ body }) =>
      [...body.matchAll(/<loc>https:\/\/kiosk\.example([^<]+)<\/loc>/g)].map(([, path = '']) =>
        read(path),
      ),
    )
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toEqual(expect.arrayContaining(['/', '/terms', '/buy/AMZ_US_25']))
    expect(paths).toContain('/search?kind=esim&country=FR')
    expect(paths).not.toContain('/buy/ADDRESS_US_5')
    for (const path of paths) expect((await get(path)).statusCode, path).toBe(200)
    for (const { body } of answers) {
      expect(body).toMatch(/<lastmod>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ<\/lastmod>/)
    }
  })

  test('goes on in parts that stay within what sitemaps may have', () => {
    const offers = Array.from({ length: offersPerPart + 50 }, (_, at) => voucher(`V_${at}`))
    const catalog = catalogOf(offers, fixturePricing())
    expect(sitemapIndex(catalog, 'https://kiosk.example').match(/<sitemap>/g)).toHaveLength(3)
    const texts = [1, 2].map((part) => sitemapPart(catalog, part, ''))
    const counts = texts.map((text) => text?.match(/<url>/g)?.length)
    expect(counts).toEqual([offersPerPart, 50])
    expect(sitemapPart(catalog, 3, '')).toBeUndefined()
  })

  test.each(['/sitemap-9.xml', '/sitemap-x.xml', '/sitemap-.xml', '/sitemap--1.xml'])(
    '%s is no part of it',
    async (path) => {
      expect((await get(path)).statusCode).toBe(404)
    },
  )
})

test('robots.txt keeps search engines from what is somebody’s own, and names the map', async () => {
  const { body } = await get('/robots.txt')
  for (const path of ['/orders/', '/pay/']) expect(body).toContain(`Disallow: ${path}\n`)
  expect(body).toContain('Sitemap: https://kiosk.example/sitemap.xml')
})

describe('the terms', () => {
  const liveCatalog = createLiveCatalog(catalogOf([...shopOffers], fixturePricing()))
  const shown = (terms: { url: string } | { text: string } | undefined) => {
    const site = { name: '', description: '', url: '', logo: '', contact: '', acceptsCrypto: [] }
    const deps = {
      liveCatalog,
      pricing: fixturePricing(),
      networkName: 'Base',
      fulfillmentDeadlineSeconds: 600,
      isSandbox: false,
      t,
    }
    return read(JSON.stringify(termsPage({ ...deps, site: { ...site, terms } }), symbols))
  }

  test('are those of the operator, and nothing in them becomes markup', () => {
    expect(shown({ url: 'https://shop.example/terms' })).toContain('https://shop.example/terms')
    const text = `# Returns\n\nNone.\r\n\r\n- one\n- two\n\n${breakout}`
    expect(shown({ text })).toContain('Returns None. one two')
    expect(shown({ text })).not.toContain('# Returns')
  })
})

describe('an error', () => {
  const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test('of an address that is none is a page for browsers, whatever the address', async () => {
    for (const path of ['/nosuch', '/a/b/c', '/SEARCH', '/%zz', '/orders/x/y/z']) {
      const { statusCode, headers, body } = await get(path, asBrowser)
      expect(statusCode, path).toBeGreaterThanOrEqual(400)
      expect(headers['content-type'], path).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy'], path).toContain("default-src 'none'")
      expect(structureFaults(body), path).toEqual([])
      expect(body, path).toContain('Not found')
    }
  })

  test('stays what it is for everybody else, and for the interfaces always', async () => {
    expect((await get('/nosuch')).headers['content-type']).toContain('application/problem+json')
    for (const path of ['/api/nosuch', '/ai/nosuch', '/mcp/x', '/.well-known/x']) {
      const { headers } = await get(path, asBrowser)
      expect(headers['content-type'], path).toMatch(/^application\/(problem\+)?json/)
    }
  })
})

/** Markup is stored under a symbol, which JSON would leave out. */
function symbols(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const [made] = Object.getOwnPropertySymbols(value)
  return made === undefined ? value : (value as Record<symbol, unknown>)[made]
}
