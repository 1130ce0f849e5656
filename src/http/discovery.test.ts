import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { fixturePricing } from '../../test/fixtures/offers.ts'

const { app, pass } = testApp()

async function get(url: string) {
  pass(1001)
  const answer = await app.inject({ method: 'GET', url })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

async function idsOf(url: string): Promise<string[]> {
  const { status, body } = await get(url)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.total).toBe(body.items.length)
  return body.items.map(({ offerId }: { offerId: string }) => offerId)
}

describe('index and capabilities', () => {
  test.each(['/ai', '/ai/'])('%s is the index', async (url) => {
    const { status, body } = await get(url)
    expect(status).toBe(200)
    expect(body).toEqual({
      version: '1.0.0',
      name: 'Test Kiosk',
      description: 'Goods for tests.',
      accepts_crypto: ['BTC', 'ETH', 'USDT', 'LTC', 'XMR'],
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
})

describe('vouchers', () => {
  test('come in order of brandName, price, offerId, without what is not sold', async () => {
    expect(await idsOf('/ai/vouchers')).toEqual([
      'AMZ_US_OPEN',
      'AMZ_US_25',
      'AMZ_DE_10',
      'MCD_US_10',
      'PLAY_JP_1000',
      'FUEL_US_50',
    ])
  })

  test('have exactly the published fields', async () => {
    const { body } = await get('/ai/vouchers?search=a%20to%20z')
    expect(body.items).toEqual([
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
    ])
  })

  test('show the markup, rounded up', async () => {
    const dear = testApp({ pricing: fixturePricing({ markupBps: 123 }) })
    const answer = await dear.app.inject('/ai/vouchers?brand=amazon.com')
    expect(answer.json().items.map(({ price }: { price: object }) => price)).toEqual([
      { currency: 'USD', currencyDivisor: 100, min: 500, max: 10_000 },
      { currency: 'USD', currencyDivisor: 100, fixed: 2531 },
    ])
  })
})

describe('voucher filters', () => {
  test.each([
    ['country=de', ['AMZ_DE_10']],
    ['brand=amazon', ['AMZ_US_OPEN', 'AMZ_US_25', 'AMZ_DE_10']],
    ['brand=AMA', ['AMZ_US_OPEN', 'AMZ_US_25', 'AMZ_DE_10']],
    ['brand=amazon_de', ['AMZ_DE_10']],
    ['brand=mazon', []],
    ['brand=mcdonalds', ['MCD_US_10']],
    ['brand=Mc%44onald%27s', ['MCD_US_10']],
    ['subType=food+%26+beverage', ['MCD_US_10']],
    ['search=japan', ['PLAY_JP_1000']],
    ['search=pl%C3%A1ystation', ['PLAY_JP_1000']],
    ['search=western+amazon', ['AMZ_DE_10']],
    ['search=amazon&country=US', ['AMZ_US_OPEN', 'AMZ_US_25']],
    ['search=playstatoin', ['PLAY_JP_1000']],
    ['brand=amazon&subType=Restaurant', []],
    ['country=FR', []],
  ])('?%s finds %j', async (query, ids) => {
    expect(await idsOf(`/ai/vouchers?${query}`)).toEqual(ids)
  })

  test('text puts brands first, the rest next, typos last', async () => {
    expect(await idsOf('/ai/vouchers?search=amazon')).toEqual([
      'AMZ_US_OPEN',
      'AMZ_US_25',
      'AMZ_DE_10',
      'PLAY_JP_1000',
    ])
    expect(await idsOf('/ai/vouchers?search=amazon.de')).toEqual(['AMZ_DE_10'])
    expect(await idsOf('/ai/vouchers?search=amazom')).toHaveLength(4)
  })

  test('come page by page', async () => {
    const { body } = await get('/ai/vouchers?limit=2&offset=1')
    expect(body).toMatchObject({ total: 6, limit: 2, offset: 1 })
    expect(body.items.map((item: { offerId: string }) => item.offerId)).toEqual([
      'AMZ_US_25',
      'AMZ_DE_10',
    ])
    const past = await get('/ai/vouchers?offset=600')
    expect(past.body).toEqual({ total: 6, limit: 20, offset: 600, items: [] })
  })
})

describe('topups', () => {
  test.each([
    ['country=gt', ['CLARO_GT_5', 'CLARO_GT_DATA', 'TIGO_GT_5']],
    ['brand=airtel', ['AIRTEL_IN_3']],
    ['subType=DATA', ['CLARO_GT_DATA']],
    ['region=south%20asia', ['AIRTEL_IN_3']],
    ['brand=claro&country=NI', ['CLARO_NI_5']],
  ])('?%s finds %j', async (query, ids) => {
    expect(await idsOf(`/ai/topups?${query}`)).toEqual(ids)
  })

  test('facets leave their own filter out', async () => {
    const { body } = await get('/ai/topups?brand=claro&country=GT')
    expect(body.facets).toEqual({
      countries: ['GT', 'NI'],
      regions: ['Central America'],
      brands: ['Claro', 'Tigo'],
      subTypes: ['data', 'voice'],
    })
  })

  test('have exactly the published fields', async () => {
    const { body } = await get('/ai/topups?country=IN')
    expect(body.items).toEqual([
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
    ])
  })
})

describe('esims', () => {
  test.each([
    ['country=FR', ['ESIM-FR-7D-1GB']],
    ['country=PL', []],
    ['regions=Europe', ['ESIM-EU-30D-5GB']],
    ['regions=asia', []],
    ['regions=global', ['ESIM-GLOBAL-30D']],
    ['regions=Europe&country=PL', ['ESIM-EU-30D-5GB']],
    ['regions=Global&country=PL', []],
    ['q=roams', ['ESIM-EU-30D-5GB']],
    ['q=india', ['ESIM-IN-7D-1GB']],
    ['brand=worldsim', ['ESIM-GLOBAL-30D']],
  ])('?%s finds %j', async (query, ids) => {
    expect(await idsOf(`/ai/esims?${query}`)).toEqual(ids)
  })

  test('have exactly the published fields', async () => {
    const { body } = await get('/ai/esims?regions=Europe')
    expect(body.items).toEqual([
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
    ])
  })
})

describe('an empty result explains itself', () => {
  test.each([
    ['vouchers?brand=amazn', 'brand', 'Amazon.com'],
    ['vouchers?brand=amazon&country=JP', 'country', 'US'],
    ['vouchers?brand=mcdonlds&country=US', 'brand', "McDonald's"],
    ['vouchers?search=playstaton5', 'search', 'PlayStation'],
    ['topups?brand=tigo&subType=data', 'subType', 'voice'],
    ['topups?brand=airtel&region=Caribbean', 'region', 'South Asia'],
    ['esims?regions=Global&country=PL', 'regions', 'Europe'],
    ['esims?regions=Europe&country=US', 'regions', 'Global'],
  ])('%s: %s, try %s', async (query, parameter, nearest) => {
    const { body } = await get(`/ai/${query}`)
    expect(body).toMatchObject({ total: 0, items: [], hint: { parameter, nearest } })
    const again = new URLSearchParams(query.split('?')[1])
    again.set(parameter, nearest)
    const found = await get(`/ai/${query.split('?')[0]}?${again}`)
    expect(found.body.total).toBeGreaterThan(0)
  })

  test.each([
    ['vouchers?brand=zzzz&country=FR', 'country'],
    ['vouchers?search=zzzzqq', 'search'],
    ['vouchers?country=KP', 'country'],
    ['esims?country=PL', 'country'],
    ['topups?region=Caribbean', 'region'],
  ])('%s names no value where none is near', async (query, parameter) => {
    const { hint } = (await get(`/ai/${query}`)).body
    expect(hint.parameter).toBe(parameter)
    expect(hint.nearest).toBeUndefined()
  })
})

const long = 'x'.repeat(41)
const badQueries = [
  ['/ai?x=1', 'x'],
  ['/ai/capabilities?limit=1', 'limit'],
  ['/ai/vouchers?country=XX', 'country'],
  ['/ai/vouchers?country=UK', 'country'],
  ['/ai/vouchers?country=USA', 'country'],
  ['/ai/vouchers?country=U%00', 'country'],
  ['/ai/vouchers?subType=Shop', 'subType'],
  ['/ai/vouchers?subtype=Shopping', 'subtype'],
  ['/ai/vouchers?q=amazon', 'q'],
  ['/ai/vouchers?search=!!', 'search'],
  [`/ai/vouchers?search=${long}`, 'search'],
  [`/ai/vouchers?brand=${'x'.repeat(201)}`, 'brand'],
  [`/ai/vouchers?brand=${'x'.repeat(3000)}`, 'brand'],
  ['/ai/vouchers?brand=a%0Ab', 'brand'],
  ['/ai/vouchers?brand=%FF', 'brand'],
  ['/ai/vouchers?brand=%C3%28', 'brand'],
  ['/ai/vouchers?brand=%zz', 'brand'],
  ['/ai/vouchers?brand=%', 'brand'],
  ['/ai/vouchers?brand=a&brand=b', 'brand'],
  ['/ai/vouchers?brand=a&brand=a', 'brand'],
  ['/ai/vouchers?brand[]=a', 'brand[]'],
  ['/ai/vouchers?__proto__=a', '__proto__'],
  ['/ai/vouchers?=a', ''],
  ['/ai/vouchers?limit=0', 'limit'],
  ['/ai/vouchers?limit=51', 'limit'],
  ['/ai/vouchers?limit=-1', 'limit'],
  ['/ai/vouchers?limit=1.5', 'limit'],
  ['/ai/vouchers?limit=ten', 'limit'],
  ['/ai/vouchers?limit=1e1', 'limit'],
  ['/ai/vouchers?offset=-1', 'offset'],
  ['/ai/vouchers?offset=99999999999999999999', 'offset'],
  ['/ai/topups?region=Global', 'region'],
  ['/ai/topups?subType=sms', 'subType'],
  ['/ai/topups?search=x', 'search'],
  ['/ai/esims?regions=Western%20Europe', 'regions'],
] as const

describe('bad input is refused with 400 that names the parameter', () => {
  test.each(badQueries)('%s: %s', async (url, parameter) => {
    const { status, body, headers } = await get(url)
    expect(status).toBe(400)
    expect(body.parameter).toBe(parameter)
    expect(body.error).toMatch(/^[A-Za-z"].*[.?]$/s)
    expect(headers['content-type']).toContain('application/json')
    expect(headers['cache-control']).toBe('no-store')
  })
})

describe('a refusal helps', () => {
  test('an enumeration tells its values, a range its bounds, a slip the name meant', async () => {
    const endless = await get(`/ai/vouchers?brand=${'x'.repeat(3000)}`)
    expect(endless.body.error).toContain('longer than 2048 bytes')
    const subType = await get('/ai/topups?subType=sms')
    expect(subType.body.allowed).toEqual(['data', 'voice', 'bundle'])
    expect((await get('/ai/esims?limit=51')).body.error).toContain('from 1 to 50')
    expect((await get('/ai/esims?region=Asia')).body.error).toContain('Did you mean regions?')
    expect((await get('/ai/vouchers?q=x')).body.error).toContain('Did you mean search?')
    expect((await get('/ai/vouchers?limt=5')).body.error).toContain('Did you mean limit?')
    expect((await get('/ai/vouchers?country=UK')).body.error).toContain('Did you mean GB?')
  })

  test('XK is a country; a valid country without offers is an empty page', async () => {
    const { status, body } = await get('/ai/vouchers?country=xk')
    expect([status, body.total]).toEqual([200, 0])
  })
})
