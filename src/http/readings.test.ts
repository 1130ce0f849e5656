import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { fixed, fixtureNow, fixturePricing, voucher } from '../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../catalog/catalog.ts'

const { app, pass } = testApp()

async function get(url: string) {
  pass(1001)
  const answer = await app.inject({ method: 'GET', url })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

interface Item {
  readonly offerId: string
}

async function idsOf(url: string): Promise<string[]> {
  const { status, body } = await get(url)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items.map(({ offerId }: Item) => offerId)
}

const catalog = '/api/catalog'
const amazon = ['AMZ_US_OPEN', 'AMZ_US_25', 'AMZ_DE_10']

test.each(['/ai', '/ai/'])('%s is the index', async (url) => {
  expect((await get(url)).body).toEqual({
    version: '1.0.0',
    name: 'Test Kiosk',
    description: 'Goods for tests.',
    accepts_crypto: ['BTC', 'ETH', 'USDT', 'LTC', 'XMR'],
    payments: {
      agents: {
        methods: ['usdc-base-sepolia'],
        protocol: 'x402',
        network: 'eip155:84532',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      },
      website: ['USDC', 'BTC', 'ETH', 'USDT', 'LTC', 'XMR'],
    },
    delivery: 'instant',
    website: 'https://kiosk.example',
    search: '/ai/search',
    catalogs: { vouchers: '/ai/vouchers', topups: '/ai/topups', esims: '/ai/esims' },
    capabilities: '/ai/capabilities',
    offers: {
      vouchers: '/api/catalog/vouchers/offers/{offerId}',
      topups: '/api/catalog/topups/offers/{offerId}',
      esims: '/api/catalog/esims/offers/{offerId}',
    },
    catalog: '/api/catalog',
    manifest: '/.well-known/x402',
    mcp: '/mcp',
    openapi: '/openapi.json',
    skill: '/SKILL.md',
    llms: '/llms.txt',
  })
})

test('capabilities name what is sold', async () => {
  const { body } = await get('/ai/capabilities')
  expect(body).toMatchObject({ delivery: 'instant', no_account_required: true })
  expect(body.vouchers).toEqual({
    countries: ['DE', 'JP', 'US'],
    subtypes: [
      'Gaming & Entertainment',
      'Restaurant',
      'Food & Beverage',
      'Shopping',
      'General Merchandise',
    ],
    regions: ['Asia', 'North America', 'Western Europe'],
    brands: ['Amazon.com', 'Amazon.de', "McDonald's", 'PlayStation', 'Shell'],
    query_url: '/ai/vouchers',
  })
  expect(body.topups).toEqual({
    countries: ['GT', 'IN', 'NI'],
    regions: ['South Asia', 'Central America'],
    query_url: '/ai/topups',
  })
  expect(body.esims.coverage).toMatch(/^6 countries/)
})

describe('a query', () => {
  test.each([
    ['/ai/vouchers', [...amazon, 'MCD_US_10', 'PLAY_JP_1000', 'FUEL_US_50']],
    ['/ai/vouchers?country=de', ['AMZ_DE_10']],
    ['/ai/vouchers?country=xk', []],
    ['/ai/vouchers?brand=AMA', amazon],
    ['/ai/vouchers?brand=amazon_de', ['AMZ_DE_10']],
    ['/ai/vouchers?brand=mazon', []],
    ['/ai/vouchers?brand=Mc%44onald%27s', ['MCD_US_10']],
    ['/ai/vouchers?subType=food+%26+beverage', ['MCD_US_10']],
    ['/ai/vouchers?search=japan', ['PLAY_JP_1000']],
    ['/ai/vouchers?search=western+amazon', ['AMZ_DE_10']],
    ['/ai/vouchers?search=amazon&country=US', ['AMZ_US_OPEN', 'AMZ_US_25']],
    ['/ai/vouchers?search=playstatoin', ['PLAY_JP_1000']],
    // Brands come first, the rest next.
    ['/ai/vouchers?search=amazon', [...amazon, 'PLAY_JP_1000']],
    ['/ai/vouchers?limit=2&offset=1', ['AMZ_US_25', 'AMZ_DE_10']],
    ['/ai/topups?country=gt', ['CLARO_GT_5', 'CLARO_GT_DATA', 'TIGO_GT_5']],
    ['/ai/topups?subType=DATA', ['CLARO_GT_DATA']],
    ['/ai/topups?region=south%20asia', ['AIRTEL_IN_3']],
    ['/ai/topups?brand=claro&country=NI', ['CLARO_NI_5']],
    ['/ai/esims?country=FR', ['ESIM-FR-7D-1GB']],
    ['/ai/esims?regions=Europe', ['ESIM-EU-30D-5GB']],
    ['/ai/esims?regions=asia', []],
    ['/ai/esims?regions=global', ['ESIM-GLOBAL-30D']],
    ['/ai/esims?regions=Europe&country=PL', ['ESIM-EU-30D-5GB']],
    ['/ai/esims?regions=Global&country=PL', []],
    ['/ai/esims?q=roams', ['ESIM-EU-30D-5GB']],
    [`${catalog}/vouchers/offers?brand=amazon`, amazon],
    [`${catalog}/vouchers/offers?category=general%20merchandise`, ['FUEL_US_50']],
    [`${catalog}/vouchers/offers?minValue=100.01`, []],
    [`${catalog}/vouchers/offers?maxValue=5`, ['AMZ_US_OPEN', 'ADDRESS_US_5']],
    [`${catalog}/vouchers/offers?minValue=11&maxValue=12`, ['AMZ_US_OPEN', 'AMZ_DE_10']],
    [`${catalog}/vouchers/offers?minValue=25&maxValue=25`, ['AMZ_US_OPEN', 'AMZ_US_25']],
    [`${catalog}/topups/offers?operator=tigo`, ['TIGO_GT_5']],
    [`${catalog}/topups/offers?region=South+Asia`, ['AIRTEL_IN_3']],
    [`${catalog}/esims/offers?country=FR&regional=true`, ['ESIM-EU-30D-5GB', 'ESIM-GLOBAL-30D']],
    [`${catalog}/esims/offers?country=FR&regional=false`, ['ESIM-FR-7D-1GB']],
    [`${catalog}/esims/offers?covers=fr,%20de`, ['ESIM-EU-30D-5GB']],
    [`${catalog}/esims/offers?covers=FR&regional=true&country=US`, ['ESIM-GLOBAL-30D']],
    [`${catalog}/esims/offers?covers=${Array(50).fill('DE').join(',')}`, ['ESIM-EU-30D-5GB']],
    [`${catalog}/esims/offers?regions=western-europe&regional=true`, ['ESIM-EU-30D-5GB']],
    [`${catalog}/esims/offers?region=eastern-europe&regions=Eastern%20Europe`, ['ESIM-EU-30D-5GB']],
    [`${catalog}/esims/offers?duration=30`, ['ESIM-EU-30D-5GB', 'ESIM-GLOBAL-30D']],
    [`${catalog}/esims/offers?limit=1&offset=1`, ['ESIM-IN-7D-1GB']],
  ])('%s finds %j', async (url, ids) => {
    expect(await idsOf(url)).toEqual(ids)
  })

  test.each([
    [
      '/ai/vouchers?search=play+station',
      ['search=PLAY%20%20Station!', 'search=+pl%C3%A1y-station'],
    ],
    [
      '/ai/vouchers?brand=amazon&country=US',
      ['country=us&brand=+AMAZON+', 'brand=Am%C3%A1zon&country=US'],
    ],
    ['/ai/topups?brand=tigo+guatemala', ['brand=TIGO++Guatemala']],
    [`${catalog}/vouchers/offers?category=fuel`, ['category=FUEL', 'category=+Fuel']],
    [`${catalog}/esims/offers?q=world&covers=DE,FR`, ['covers=fr,%20de,FR&q=World']],
  ])('%s has one answer, however it is written', async (url, others) => {
    const tagOf = async (one: string) => (await app.inject(one)).headers['etag']
    const tag = await tagOf(url)
    expect(tag).toBeDefined()
    for (const query of others)
      expect(await tagOf(`${url.split('?')[0]}?${query}`), query).toBe(tag)
  })

  test('beyond the last offer is an empty page of a known total', async () => {
    const past = await get('/ai/vouchers?offset=600')
    expect(past.body).toEqual({ total: 6, limit: 20, offset: 600, items: [] })
  })

  test('has facets that leave their own filter out', async () => {
    expect((await get('/ai/topups?brand=claro&country=GT')).body.facets).toEqual({
      countries: ['GT', 'NI'],
      regions: ['Central America'],
      brands: ['Claro', 'Tigo'],
      subTypes: ['data', 'voice'],
    })
  })

  test('finds a brand by its whole name, however long the supplier made it', async () => {
    const brandName = 'Name '.repeat(40).trim()
    const offer = voucher('LONG', { brand: 'B'.repeat(100), brandName })
    const { app } = testApp({
      liveCatalog: createLiveCatalog(catalogOf([offer], fixturePricing())),
    })
    for (const brand of [brandName, offer.brand]) {
      for (const path of ['/api/catalog/vouchers/offers', '/ai/vouchers']) {
        const { body } = await app.inject({ url: path, query: { brand } })
        expect(JSON.parse(body), path).toMatchObject({ total: 1, items: [{ offerId: 'LONG' }] })
      }
    }
  })
})

describe('an empty result explains itself', () => {
  test.each([
    ['/ai/vouchers?brand=amazn', 'brand', 'Amazon.com'],
    ['/ai/vouchers?brand=amazon&country=JP', 'country', 'US'],
    ['/ai/vouchers?search=playstaton5', 'search', 'PlayStation'],
    ['/ai/topups?brand=tigo&subType=data', 'subType', 'voice'],
    ['/ai/topups?brand=airtel&region=Caribbean', 'region', 'South Asia'],
    ['/ai/esims?regions=Europe&country=US', 'regions', 'Global'],
    [`${catalog}/esims/offers?duration=9`, 'duration', '7'],
    [`${catalog}/esims/offers?covers=FR,AQ,DE`, 'covers', 'DE,FR'],
    [`${catalog}/vouchers/offers?category=Fuel&brand=amazon`, 'category', 'Shopping'],
  ])('%s: %s, try %s', async (url, parameter, nearest) => {
    const { body } = await get(url)
    expect(body).toMatchObject({ total: 0, items: [], hint: { parameter, nearest } })
    const [path, query] = url.split('?')
    const again = new URLSearchParams(query)
    again.set(parameter, nearest)
    expect((await get(`${path}?${again}`)).body.total).toBeGreaterThan(0)
  })

  test.each([
    ['/ai/vouchers?brand=zzzz&country=FR', 'country'],
    ['/ai/vouchers?search=zzzzqq', 'search'],
    ['/ai/esims?country=PL', 'country'],
    ['/ai/topups?region=Caribbean', 'region'],
    [`${catalog}/esims/offers?covers=AQ,BV`, 'covers'],
    [`${catalog}/vouchers/offers?minValue=900`, 'minValue'],
  ])('%s names no value where none is near', async (url, parameter) => {
    const { hint } = (await get(url)).body
    expect(hint).toEqual({ parameter, message: expect.any(String) })
  })
})

describe('an offer', () => {
  test.each([
    [
      '/ai/vouchers?search=a%20to%20z',
      {
        offerId: 'AMZ_US_25',
        brand: 'AMAZON',
        brandName: 'Amazon.com',
        country: 'US',
        regions: ['North America'],
        subTypes: ['Shopping'],
        description: 'Everything from A to Z.',
        shortNotes: 'Valid in the US.',
        productType: 'VOUCHER',
        price: { currency: 'USD', currencyDivisor: 100, fixed: 2500 },
        image: 'https://img.example/amz.png',
        buy_url: 'https://kiosk.example/buy/AMZ_US_25',
      },
    ],
    [
      '/ai/topups?country=IN',
      {
        offerId: 'AIRTEL_IN_3',
        brand: 'AIRTEL',
        brandName: 'Airtel India',
        country: 'IN',
        regions: ['South Asia'],
        subTypes: ['bundle'],
        dataUnlimited: true,
        voiceMinutes: 100,
        smsNumber: 50,
        price: { currency: 'USD', currencyDivisor: 100, fixed: 300 },
        buy_url: 'https://kiosk.example/buy/AIRTEL_IN_3',
      },
    ],
    [
      '/ai/esims?regions=Europe',
      {
        offerId: 'ESIM-EU-30D-5GB',
        brand: 'NOMADNET',
        regions: ['Western Europe', 'Eastern Europe'],
        dataGb: 5,
        durationDays: 30,
        price: { currency: 'USD', currencyDivisor: 100, fixed: 1500 },
        subTypes: ['Standard'],
        shortNotes: 'Roams in three countries.',
        buy_url: 'https://kiosk.example/buy/ESIM-EU-30D-5GB',
      },
    ],
    [
      `${catalog}/vouchers/offers?brand=mcdonalds`,
      {
        offerId: 'MCD_US_10',
        brand: 'MCDONALDS',
        brandName: "McDonald's",
        country: 'US',
        regions: ['North America'],
        subTypes: ['Restaurant', 'Food & Beverage'],
        productType: 'VOUCHER',
        price: { currency: 'USD', currencyDivisor: 100, fixed: 1000 },
        buy_url: 'https://kiosk.example/buy/MCD_US_10',
        kind: 'voucher',
        categories: ['Restaurant', 'Food & Beverage'],
        priceType: 'FIXED',
        faceValue: { currency: 'USD', currencyDivisor: 100, fixed: 1000 },
        usdc: { amount: '10000000', decimals: 6 },
        requiredFields: ['firstName', 'lastName', 'email'],
        available: true,
      },
    ],
  ])('of %s has exactly the published fields', async (url, item) => {
    expect((await get(url)).body.items).toEqual([item])
  })

  test('of open value carries its bounds in USDC', async () => {
    const { body } = await get(`${catalog}/vouchers/offers?brand=amazon.com`)
    expect(body.items[0]).toMatchObject({
      priceType: 'RANGE',
      usdc: { min: '5000000', max: '100000000', increment: '1000000', decimals: 6 },
      requiredFields: ['firstName', 'lastName', 'value'],
    })
  })

  test('shows the markup, rounded up', async () => {
    const dear = testApp({ pricing: fixturePricing({ markupBps: 123 }) })
    const answer = await dear.app.inject('/ai/vouchers?brand=amazon.com')
    expect(answer.json().items.map(({ price }: { price: object }) => price)).toEqual([
      { currency: 'USD', currencyDivisor: 100, min: 507, max: 10_123 },
      { currency: 'USD', currencyDivisor: 100, fixed: 2531 },
    ])
  })

  test('that is not sold is shown with the reason and without a price', async () => {
    const { body } = await get(`${catalog}/vouchers/offers?brand=zalando`)
    expect(body.items[0]).toMatchObject({
      available: false,
      unavailableReason: expect.stringContaining('recipient.nationalId'),
    })
    expect(body.items[0].usdc).toBeUndefined()
  })

  test('in another currency follows a new rate, and a rate that went stale, at once', async () => {
    let rates = fixturePricing().rates()
    let now = fixtureNow
    const pricing = fixturePricing({ rates: () => rates, now: () => now, readAt: () => now })
    const offer = voucher('SPAR_AT_10', { price: fixed(1000, 'EUR') })
    const liveCatalog = createLiveCatalog(catalogOf([offer], pricing))
    const { app } = testApp({ liveCatalog, pricing })
    const read = async () => (await app.inject('/api/catalog/vouchers/offers')).json().items[0]
    expect(await read()).toMatchObject({ available: true, usdc: { amount: '11120000' } })
    rates = { asOf: new Date('2026-11-18T11:00:00Z'), source: 'new', perUsd: { EUR: 0.5 } }
    expect(await read()).toMatchObject({ usdc: { amount: '20000000' } })
    now = new Date('2026-11-27T12:00:00Z')
    expect(await read()).toMatchObject({
      available: false,
      unavailableReason: expect.stringContaining('too old'),
    })
  })
})

describe('the detail of an offer', () => {
  test('carries notes, instructions, the refund rule and how to buy it', async () => {
    const { body } = await get(`${catalog}/vouchers/offers/amz_us_25`)
    expect(body).toMatchObject({
      offerId: 'AMZ_US_25',
      kind: 'voucher',
      notes: 'Long notes.',
      redemptionInstructions: 'Enter the code at checkout.',
      refundRule: expect.stringContaining('not refundable'),
      purchase: {
        method: 'POST',
        url: 'https://kiosk.example/api/catalog/vouchers/purchase/info',
        quoteUrl: 'https://kiosk.example/api/catalog/vouchers/purchase/info?offerId=AMZ_US_25',
        bodySchema: {
          type: 'object',
          required: ['offerId', 'firstName', 'lastName'],
          additionalProperties: false,
        },
      },
    })
    expect((await get(`${catalog}/esims/offers/ESIM-EU-30D-5GB`)).body.coverage).toEqual([
      { country: 'FR', name: 'France', speeds: ['4G'] },
      { country: 'DE', name: 'Germany', speeds: ['4G'] },
      { country: 'PL', name: 'Poland', speeds: ['4G'] },
    ])
  })

  test.each([
    'vouchers/offers/NONE',
    'vouchers/offers/CLARO_GT_5',
    'esims/offers/__proto__',
    'topups/offers/%E2%82%AC',
    `topups/offers/${'x'.repeat(199)}`,
  ])('at %s is not found', async (path) => {
    const { status, body } = await get(`${catalog}/${path}`)
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'offer_not_found', status: 404, retryable: false })
  })
})

test('brands, countries, regions and filters are listed', async () => {
  const { body } = await get(`${catalog}/vouchers/brands`)
  expect(body).toMatchObject({ total: 6, limit: 6, offset: 0 })
  expect(body.items.slice(0, 2)).toEqual([
    { brand: 'AMAZON', brandName: 'Amazon.com', countries: ['US'], offers: 2 },
    { brand: 'AMAZON_DE', brandName: 'Amazon.de', countries: ['DE'], offers: 1 },
  ])
  expect((await get(`${catalog}/vouchers/countries`)).body.items).toEqual([
    { code: 'DE', name: 'Germany', offers: 1 },
    { code: 'JP', name: 'Japan', offers: 1 },
    { code: 'US', name: 'United States of America', offers: 5 },
  ])
  expect((await get(`${catalog}/topups/regions`)).body.items).toEqual([
    { slug: 'central-america', name: 'Central America', offers: 4 },
    { slug: 'south-asia', name: 'South Asia', offers: 1 },
  ])
  expect((await get(`${catalog}/vouchers/filters`)).body).toEqual({
    brands: ['Amazon.com', 'Amazon.de', "McDonald's", 'PlayStation', 'Shell', 'Zalando'],
    categories: [
      'Food & Beverage',
      'Fuel',
      'Gaming & Entertainment',
      'General Merchandise',
      'Restaurant',
      'Shopping',
    ],
    countries: ['DE', 'JP', 'US'],
  })
})

describe('bad input is refused with 400 that names the parameter', () => {
  const long = 'x'.repeat(41)
  test.each([
    ['?x=1', 'x'],
    ['/capabilities?limit=1', 'limit'],
    ['/vouchers?country=UK', 'country'],
    ['/vouchers?country=USA', 'country'],
    ['/vouchers?country=U%00', 'country'],
    ['/vouchers?subType=Shop', 'subType'],
    ['/vouchers?subtype=Shopping', 'subtype'],
    ['/vouchers?search=!!', 'search'],
    [`/vouchers?search=${long}`, 'search'],
    [`/vouchers?brand=${'x'.repeat(201)}`, 'brand'],
    [`/vouchers?brand=${'x'.repeat(3000)}`, 'brand'],
    ['/vouchers?brand=a%0Ab', 'brand'],
    ['/vouchers?brand=%FF', 'brand'],
    ['/vouchers?brand=%zz', 'brand'],
    ['/vouchers?brand=a&brand=a', 'brand'],
    ['/vouchers?brand[]=a', 'brand[]'],
    ['/vouchers?__proto__=a', '__proto__'],
    ['/vouchers?=a', ''],
    ['/vouchers?limit=0', 'limit'],
    ['/vouchers?limit=51', 'limit'],
    ['/vouchers?limit=1.5', 'limit'],
    ['/vouchers?limit=1e1', 'limit'],
    ['/vouchers?offset=-1', 'offset'],
    ['/vouchers?offset=99999999999999999999', 'offset'],
    ['/topups?region=Global', 'region'],
    ['/esims?regions=Western%20Europe', 'regions'],
  ])('/ai%s: %s', async (path, parameter) => {
    const { status, body, headers } = await get(`/ai${path}`)
    expect(status).toBe(400)
    expect(body.parameter).toBe(parameter)
    expect(body.error).toMatch(/^[A-Za-z"].*[.?]$/s)
    expect(headers['content-type']).toContain('application/json')
    expect(headers['cache-control']).toBe('no-store')
  })

  const codes = Array(51).fill('FR').join(',')
  test.each([
    ['/vouchers/offers?limit=101', 'limit', 'invalid_parameter'],
    ['/vouchers/offers?category=Dating', 'category', 'invalid_parameter'],
    ['/vouchers/offers?minValue=-1', 'minValue', 'invalid_parameter'],
    ['/vouchers/offers?minValue=Infinity', 'minValue', 'invalid_parameter'],
    ['/vouchers/offers?minValue=5&maxValue=4', 'minValue', 'invalid_parameter'],
    ['/vouchers/brands?limit=5', 'limit', 'unknown_parameter'],
    ['/vouchers/offers/AMZ_US_25?x=5', 'x', 'unknown_parameter'],
    ['/topups/offers?region=nowhere', 'region', 'invalid_parameter'],
    ['/topups/offers?operator=a&operator=b', 'operator', 'repeated_parameter'],
    ['/esims/offers?regional=yes', 'regional', 'invalid_parameter'],
    ['/esims/offers?regional=true&regions=South%20Asia', 'regions', 'invalid_parameter'],
    ['/esims/offers?regional=true&region=south-america', 'region', 'invalid_parameter'],
    ['/esims/offers?covers=FR,UK', 'covers', 'invalid_parameter'],
    ['/esims/offers?covers=FR,,DE', 'covers', 'invalid_parameter'],
    [`/esims/offers?covers=${codes}`, 'covers', 'invalid_parameter'],
    ['/esims/offers?duration=0', 'duration', 'invalid_parameter'],
  ])('/api/catalog%s: %s, %s', async (path, parameter, code) => {
    const { status, body, headers } = await get(`${catalog}${path}`)
    expect(status).toBe(400)
    expect(headers['content-type']).toContain('application/problem+json')
    expect(body).toMatchObject({
      type: `https://kiosk.example/errors#${code}`,
      title: expect.any(String),
      status: 400,
      detail: expect.any(String),
      code,
      parameter,
      requestId: headers['x-request-id'],
      retryable: false,
    })
    expect(body).not.toHaveProperty('charged')
  })

  test.each([
    [`vouchers?brand=${'x'.repeat(3000)}`, 'longer than 2048 bytes'],
    ['esims?limit=51', 'from 1 to 50'],
    ['esims?region=Asia', 'Did you mean regions?'],
    ['vouchers?q=x', 'Did you mean search?'],
    ['vouchers?country=UK', 'Did you mean GB?'],
  ])('%s: %s', async (query, words) => {
    expect((await get(`/ai/${query}`)).body.error).toContain(words)
  })

  test('an enumeration tells its values', async () => {
    const { allowed } = (await get('/ai/topups?subType=sms')).body
    expect(allowed).toEqual(['data', 'voice', 'bundle'])
  })
})
