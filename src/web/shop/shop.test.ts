import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixturePricing, shopOffers, voucher } from '../../../test/fixtures/offers.ts'
import { readShopQuery } from '../../api/shop/shop-search.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import { type SellingRule, sellingRulesOf } from '../../catalog/selling-rules.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { breakout, read, website } from '../frame/website.fixture.ts'
import { searchPath } from '../paths.ts'

const { get } = website()

describe('the front page', () => {
  test('searches everything with a plain form, and knows nobody’s country', async () => {
    const { body } = await get('/', { 'accept-language': 'ja-JP', 'cf-ipcountry': 'JP' })
    expect(structureFaults(body)).toEqual([])
    expect(body).toContain('<form class="finder" role="search" action="/search" method="get"')
    expect(body).toContain('<option value="JP">Japan</option>')
    expect(body).not.toContain('selected="selected"')
    expect(body.match(/<script(?! type="application\/ld\+json")/g)).toBeNull()
  })
})

describe('under the operator’s rules', () => {
  const under = (...rules: readonly Omit<SellingRule, 'id'>[]) =>
    website({ rules: sellingRulesOf(rules.map((rule, id) => ({ id, ...rule }))) })
  const brand = { type: 'brand', key: 'AMAZON' } as const

  test('the front page shows first what is featured and sold, and no way to pay that is paused', async () => {
    const feature = { scope: brand, effect: { type: 'feature' } } as const
    const coin = { scope: { type: 'method', key: 'BTC' }, effect: { type: 'pause' } } as const
    const { body } = await under(feature, coin).get('/')
    expect(structureFaults(body)).toEqual([])
    expect(read(body)).toMatch(/Picked for you .*Amazon.com.* Popular brands/)
    expect(body).not.toContain('<li>BTC</li>')
    expect(body).toContain('<li>ETH</li>')
    const paused = await under(feature, { scope: brand, effect: { type: 'pause' } }).get('/')
    expect(read(paused.body)).not.toContain('Picked for you')
  })

  test('a paused offer has a page without a form, a hidden one has none', async () => {
    const paused = await under({ scope: brand, effect: { type: 'pause' } }).get('/buy/AMZ_US_25')
    expect(paused.statusCode).toBe(200)
    expect(read(paused.body)).toContain('We have paused its sale.')
    expect(paused.body).not.toContain('<form class="buy"')
    const hidden = await under({ scope: brand, effect: { type: 'hide' } }).get('/buy/AMZ_US_25')
    expect(hidden.statusCode).toBe(404)
  })

  test('a form has no wallet while x402 is paused', async () => {
    const x402 = { type: 'method', key: 'x402' } as const
    const { body } = await under({ scope: x402, effect: { type: 'pause' } }).get('/buy/AMZ_US_25')
    expect(body).toContain('<form class="buy"')
    expect(body).not.toContain('id="wallet"')
  })
})

describe('the results', () => {
  test('are worked out once for what a search means, until the catalog changes', async () => {
    const card = (id: string) => voucher(id, { brandName: 'Card' })
    const catalog = catalogOf([card('ONE'), card('TWO')], fixturePricing())
    const searched = vi.spyOn(catalog.sold.voucher, 'search')
    const liveCatalog = createLiveCatalog(catalog)
    const site = website({ liveCatalog })
    const first = await site.get('/search?q=card&kind=voucher')
    const alike = [
      '/search?kind=voucher&q=card&utm_source=mail',
      '/search?q=+card&sort=match&page=1&kind=voucher&country=&x=1&x=2',
      '/search?kind=VOUCHER&q=card%0A',
    ]
    for (const path of alike) expect((await site.get(path)).body).toBe(first.body)
    expect(searched).toHaveBeenCalledTimes(1)
    const ofBrand = await site.get('/search?kind=voucher&brand=Card')
    for (const brand of ['card', 'CARD', '++cArd+', 'c%C3%A1rd'])
      expect((await site.get(`/search?brand=${brand}&kind=voucher`)).body).toBe(ofBrand.body)
    const begun = await site.get('/search?kind=voucher&brand=ca')
    for (const brand of ['CA', '+C%C3%81'])
      expect((await site.get(`/search?brand=${brand}&kind=voucher`)).body).toBe(begun.body)
    expect(searched).toHaveBeenCalledTimes(3)
    liveCatalog.replace(catalogOf([card('THREE')], fixturePricing()))
    expect((await site.get('/search?q=card&kind=voucher')).body).not.toBe(first.body)
  })

  test('list offers with their prices, and lead to each', async () => {
    const { statusCode, body } = await get('/search?kind=voucher&country=US')
    expect(statusCode).toBe(200)
    expect(structureFaults(body)).toEqual([])
    expect(body).toContain('href="/buy/AMZ_US_25"')
    expect(read(body)).toContain('Gift cards for United States')
    expect(read(body)).toContain('25.00 USDC')
    expect(body).toContain('<option value="US" selected="selected">')
  })

  test('keep to one address, which search engines may keep only for a category', async () => {
    const liveCatalog = (await get('/search?country=us&kind=voucher')).body
    expect(liveCatalog).toContain(
      '<link rel="canonical" href="https://kiosk.example/search?kind=voucher&#38;country=US">',
    )
    for (const query of [
      'q=amazon',
      'kind=voucher&min=5',
      'kind=voucher&sort=low',
      'brand=Shell',
      '',
      'country=US',
    ]) {
      expect((await get(`/search?${query}`)).body, query).toContain(
        '<meta name="robots" content="noindex">',
      )
    }
  })

  test('of every spelling of a search are one page, whichever spelling was first', async () => {
    const spellings: Readonly<Record<string, readonly string[]>> = {
      kind: ['voucher', 'VOUCHER', '+voucher'],
      country: ['US', 'us', 'us&country=DE'],
      q: ['', '+', 'amazon', '+amazon', '&q=amazon'],
      min: ['', '5', '5.0', '05'],
      sort: ['', 'match', 'Match'],
      page: ['', '1', '01'],
      utm_source: ['mail'],
    }
    const field = fc
      .constantFrom(...Object.entries(spellings))
      .chain(([name, values]) => fc.constantFrom(...values.map((value) => `${name}=${value}`)))
    const spelling = fc.uniqueArray(field, { selector: (pair) => pair.split('=')[0] })
    const catalog = catalogOf(shopOffers, fixturePricing())
    const liveCatalog = createLiveCatalog(catalog)
    const site = website({ liveCatalog })
    const firstAt = async (path: string) => {
      // A catalog of its own, so that no page is kept.
      liveCatalog.replace({ ...catalog })
      return (await site.get(path)).body
    }
    await fc.assert(
      fc.asyncProperty(spelling, async (pairs) => {
        const spelled = pairs.join('&')
        const { query, faults } = readShopQuery(new URLSearchParams(spelled), catalog.sold)
        fc.pre(faults.size === 0)
        expect(await firstAt(`/search?${spelled}`)).toBe(await firstAt(searchPath(query)))
      }),
      { numRuns: 40, examples: [[['kind=voucher', 'sort=match']], [['kind=voucher', 'page=1']]] },
    )
  })

  test('give facets as links that keep everything else, and take a chosen one back', async () => {
    const { body } = await get('/search?kind=voucher&country=US&category=Shopping')
    const chosen = searchPath({ kind: 'voucher', country: 'US' }).replaceAll('&', '&#38;')
    expect(body).toContain(`<a href="${chosen}" aria-current="true">`)
    expect(body).toContain('kind=voucher&#38;country=US&#38;category=Restaurant')
  })

  test('lead on from page to page', async () => {
    const offers = Array.from({ length: 50 }, (_, at) => voucher(`V_${at}`))
    const liveCatalog = createLiveCatalog(catalogOf(offers, fixturePricing()))
    const { body } = await website({ liveCatalog }).get('/search?kind=voucher&page=2')
    expect(structureFaults(body)).toEqual([])
    expect(body).toContain('rel="prev" href="/search?kind=voucher"')
    expect(body).toContain('rel="next" href="/search?kind=voucher&#38;page=3"')
    expect(read(body)).toContain('25 to 48 of 50')
    expect(read(body)).toContain('Page 2 of 3')
    const { body: beyond } = await website({ liveCatalog }).get('/search?kind=voucher&page=7')
    expect(read(beyond)).toContain('There are only 3 pages')
    expect(beyond).toContain('href="/search?kind=voucher&#38;page=3"')
  })

  test('say beside its field what cannot be read, and keep what was typed', async () => {
    const { statusCode, body } = await get(
      '/search?kind=voucher&q=amazon&country=Germany&min=abc&brand=Shell',
    )
    expect(statusCode).toBe(400)
    expect(structureFaults(body)).toEqual([])
    expect(body).toMatch(/id="country"[^>]* aria-describedby="country-fault" aria-invalid="true"/)
    expect(read(body)).toContain('“Germany” is not a country code. Germany is selected now')
    expect(body).toContain('<option value="DE" selected="selected">')
    expect(body).toMatch(/value="abc" id="min"[^>]* aria-invalid="true"/)
    expect(body).toContain('<a href="#min">')
    expect(body).toMatch(/value="amazon" id="q"/)
    expect(body).toContain('<input type="hidden" name="brand" value="Shell">')
  })

  test('search for nothing while a field cannot be read', async () => {
    const catalog = catalogOf([voucher('ONE')], fixturePricing())
    const searched = vi.spyOn(catalog.sold.voucher, 'search')
    const site = website({ liveCatalog: createLiveCatalog(catalog) })
    const longQ = `q=${'x'.repeat(41)}`
    for (const fault of ['country=zz', 'min=a', 'min=2&max=1', 'sort=b', 'page=0', longQ, 'kind=x'])
      expect((await site.get(`/search?${fault}&q=one`)).statusCode, fault).toBe(400)
    expect(searched).not.toHaveBeenCalled()
  })

  test.each([
    'q',
    'country',
    'brand',
    'category',
    'region',
    'min',
    'max',
    'amount',
    'sort',
    'page',
  ])('let nothing out of %s become markup', async (field) => {
    const { body } = await get(`/search?${field}=${encodeURIComponent(breakout.slice(0, 60))}`)
    expect(structureFaults(body)).toEqual([])
    expect(body).not.toContain('<script>alert')
  })

  test.each(['%', '%ff', 'q=%00', 'q=%F0', `q=${'a'.repeat(9_000)}`, '&&&=', 'q&q&q'])(
    'stand before ?%s',
    async (query) => {
      const { statusCode, body } = await get(`/search?${query}`)
      expect([200, 400]).toContain(statusCode)
      expect(structureFaults(body)).toEqual([])
    },
  )
})
