import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { fixed, fixtureNow, fixturePricing, voucher } from '../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../catalog/catalog.ts'

const { app, pass } = testApp()

async function get(path: string) {
  pass(1001)
  const answer = await app.inject({ method: 'GET', url: `/api/catalog${path}` })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

async function idsOf(path: string): Promise<string[]> {
  const { status, body } = await get(path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items.map(({ offerId }: { offerId: string }) => offerId)
}

describe('browsing', () => {
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
    ['/api/catalog/vouchers/offers?category=fuel', ['category=FUEL', 'category=+Fuel']],
    ['/api/catalog/esims/offers?q=world&covers=DE,FR', ['covers=fr,%20de,FR&q=World']],
  ])('%s has one answer, however it is written', async (url, others) => {
    const tagOf = async (one: string) => (await app.inject(one)).headers['etag']
    const [path] = url.split('?')
    const tag = await tagOf(url)
    expect(tag).toBeDefined()
    for (const query of others) expect(await tagOf(`${path}?${query}`), query).toBe(tag)
  })

  test.each([
    ['/vouchers/offers?brand=amazon', ['AMZ_US_OPEN', 'AMZ_US_25', 'AMZ_DE_10']],
    ['/vouchers/offers?country=jp', ['PLAY_JP_1000']],
    ['/vouchers/offers?category=fuel', ['FUEL_US_50']],
    ['/vouchers/offers?category=general%20merchandise', ['FUEL_US_50']],
    ['/vouchers/offers?minValue=50', ['AMZ_US_OPEN', 'FUEL_US_50']],
    ['/vouchers/offers?minValue=100.01', []],
    ['/vouchers/offers?maxValue=5', ['AMZ_US_OPEN', 'ADDRESS_US_5']],
    ['/vouchers/offers?maxValue=4.99', []],
    ['/vouchers/offers?minValue=11&maxValue=12', ['AMZ_US_OPEN', 'AMZ_DE_10']],
    ['/vouchers/offers?minValue=25&maxValue=25', ['AMZ_US_OPEN', 'AMZ_US_25']],
    ['/topups/offers?operator=tigo', ['TIGO_GT_5']],
    ['/topups/offers?region=south-asia', ['AIRTEL_IN_3']],
    ['/topups/offers?region=South+Asia', ['AIRTEL_IN_3']],
    ['/topups/offers?country=NI', ['CLARO_NI_5']],
    ['/esims/offers?country=FR', ['ESIM-FR-7D-1GB']],
    ['/esims/offers?country=FR&regional=true', ['ESIM-EU-30D-5GB', 'ESIM-GLOBAL-30D']],
    ['/esims/offers?country=FR&regional=false', ['ESIM-FR-7D-1GB']],
    ['/esims/offers?covers=FR', ['ESIM-FR-7D-1GB', 'ESIM-EU-30D-5GB', 'ESIM-GLOBAL-30D']],
    ['/esims/offers?covers=fr,%20de', ['ESIM-EU-30D-5GB']],
    ['/esims/offers?covers=FR&regional=true&country=US', ['ESIM-GLOBAL-30D']],
    ['/esims/offers?regions=Western%20Europe', ['ESIM-FR-7D-1GB', 'ESIM-EU-30D-5GB']],
    ['/esims/offers?regions=western-europe&regional=true', ['ESIM-EU-30D-5GB']],
    ['/esims/offers?region=south-asia', ['ESIM-IN-7D-1GB']],
    ['/esims/offers?region=eastern-europe&regions=Eastern%20Europe', ['ESIM-EU-30D-5GB']],
    ['/esims/offers?duration=30', ['ESIM-EU-30D-5GB', 'ESIM-GLOBAL-30D']],
    ['/esims/offers?q=worldsim', ['ESIM-GLOBAL-30D']],
    ['/esims/offers?limit=1&offset=1', ['ESIM-IN-7D-1GB']],
  ])('%s finds %j', async (path, ids) => {
    expect(await idsOf(path)).toEqual(ids)
  })
})

test('a brand is found by its whole name, however long the supplier made it', async () => {
  const brandName = 'Name '.repeat(40).trim()
  const offer = voucher('LONG', { brand: 'B'.repeat(100), brandName })
  const { app } = testApp({ liveCatalog: createLiveCatalog(catalogOf([offer], fixturePricing())) })
  for (const brand of [brandName, offer.brand]) {
    for (const path of ['/api/catalog/vouchers/offers', '/ai/vouchers']) {
      const { body } = await app.inject({ url: path, query: { brand } })
      expect(JSON.parse(body), path).toMatchObject({ total: 1, items: [{ offerId: 'LONG' }] })
    }
  }
})

describe('an empty result or an unsold offer explains itself', () => {
  test.each([
    ['/esims/offers?duration=9', 'duration', '7'],
    ['/esims/offers?covers=FR,AQ,DE', 'covers', 'DE,FR'],
    ['/esims/offers?regional=true&country=IN', 'regional', undefined],
    ['/vouchers/offers?minValue=900', 'minValue', '100'],
    ['/vouchers/offers?maxValue=1', 'maxValue', '5'],
    ['/vouchers/offers?category=Fuel&brand=amazon', 'category', 'Shopping'],
  ])('%s is empty because of %s; try %s', async (path, parameter, nearest) => {
    const { body } = await get(path)
    expect(body).toMatchObject({ total: 0, items: [], hint: { message: expect.any(String) } })
    if (nearest !== undefined) expect(body.hint).toMatchObject({ parameter, nearest })
  })

  test('names no empty list of countries where none of those asked for is covered', async () => {
    const { hint } = (await get('/esims/offers?covers=AQ,BV')).body
    expect(hint).toEqual({
      parameter: 'covers',
      message: 'No esims have covers "AQ,BV". Leave it out to find some.',
    })
  })

  test('shows what is not sold too, with the reason', async () => {
    const { body } = await get('/vouchers/offers?brand=zalando')
    expect(body.items[0]).toMatchObject({
      available: false,
      unavailableReason: expect.stringContaining('recipient.address.street'),
    })
    expect(body.items[0].usdc).toBeUndefined()
  })

  test('a rate that went stale makes an offer unavailable at once', async () => {
    let now = fixtureNow
    const pricing = fixturePricing({ now: () => now, readAt: () => now })
    const offer = voucher('SPAR_AT_10', { price: fixed(1000, 'EUR') })
    const liveCatalog = createLiveCatalog(catalogOf([offer], pricing))
    const { app } = testApp({ liveCatalog, pricing })
    const read = async () => (await app.inject('/api/catalog/vouchers/offers')).json().items[0]
    expect(await read()).toMatchObject({ available: true, usdc: { amount: '11120000' } })
    now = new Date('2026-11-25T12:00:00Z')
    expect(await read()).toMatchObject({
      available: false,
      unavailableReason: expect.stringContaining('too old'),
    })
  })

  test('a new rate changes a price at once, before the catalog is made again', async () => {
    let rates = fixturePricing().rates()
    const pricing = fixturePricing({ rates: () => rates })
    const offer = voucher('SPAR_AT_10', { price: fixed(1000, 'EUR') })
    const { app } = testApp({
      liveCatalog: createLiveCatalog(catalogOf([offer], pricing)),
      pricing,
    })
    const read = async () => (await app.inject('/api/catalog/vouchers/offers')).json().items[0]
    expect(await read()).toMatchObject({ usdc: { amount: '11120000' } })
    rates = { asOf: new Date('2026-11-18T11:00:00Z'), source: 'new', perUsd: { EUR: 0.5 } }
    expect(await read()).toMatchObject({ usdc: { amount: '20000000' } })
  })
})

describe('an offer', () => {
  test('of fixed price carries all that is needed to choose it', async () => {
    const { body } = await get('/vouchers/offers?brand=mcdonalds')
    expect(body.items).toEqual([
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
    ])
  })

  test('of open value carries its bounds in USDC', async () => {
    const { body } = await get('/vouchers/offers?brand=amazon.com')
    expect(body.items[0]).toMatchObject({
      priceType: 'RANGE',
      usdc: { min: '5000000', max: '100000000', increment: '1000000', decimals: 6 },
      requiredFields: ['firstName', 'lastName', 'value'],
    })
  })
})

describe('the detail of an offer', () => {
  test('carries notes, instructions, the refund rule and how to buy it', async () => {
    const { status, body } = await get('/vouchers/offers/AMZ_US_25')
    expect(status).toBe(200)
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
  })

  test('lists the coverage of an eSIM by name', async () => {
    const { body } = await get('/esims/offers/ESIM-EU-30D-5GB')
    expect(body.coverage).toEqual([
      { country: 'FR', name: 'France', speeds: ['4G'] },
      { country: 'DE', name: 'Germany', speeds: ['4G'] },
      { country: 'PL', name: 'Poland', speeds: ['4G'] },
    ])
    expect(body.brandName).toBe('Nomadnet')
  })

  test('is found by its id in small letters', async () => {
    const { status, body } = await get('/vouchers/offers/amz_us_25')
    expect([status, body.offerId]).toEqual([200, 'AMZ_US_25'])
  })

  test.each([
    '/vouchers/offers/NONE',
    '/vouchers/offers/CLARO_GT_5',
    '/vouchers/offers/AMZ-US-25',
    '/esims/offers/__proto__',
    '/topups/offers/%E2%82%AC',
    `/topups/offers/${'x'.repeat(199)}`,
  ])('at %s is not found', async (path) => {
    const { status, body } = await get(path)
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'offer_not_found', status: 404, retryable: false })
  })
})

describe('lists of values', () => {
  test('brands', async () => {
    const { body } = await get('/vouchers/brands')
    expect(body).toMatchObject({ total: 6, limit: 6, offset: 0 })
    expect(body.items.slice(0, 2)).toEqual([
      { brand: 'AMAZON', brandName: 'Amazon.com', countries: ['US'], offers: 2 },
      { brand: 'AMAZON_DE', brandName: 'Amazon.de', countries: ['DE'], offers: 1 },
    ])
  })

  test('countries', async () => {
    expect((await get('/vouchers/countries')).body.items).toEqual([
      { code: 'DE', name: 'Germany', offers: 1 },
      { code: 'JP', name: 'Japan', offers: 1 },
      { code: 'US', name: 'United States of America', offers: 5 },
    ])
    expect((await get('/topups/countries')).body.total).toBe(3)
  })

  test('regions', async () => {
    expect((await get('/topups/regions')).body.items).toEqual([
      { slug: 'central-america', name: 'Central America', offers: 4 },
      { slug: 'south-asia', name: 'South Asia', offers: 1 },
    ])
  })

  test('filters', async () => {
    expect((await get('/vouchers/filters')).body).toEqual({
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
})

describe('bad input is a problem document that names the parameter', () => {
  const codes = Array(51).fill('FR').join(',')
  test.each([
    ['/vouchers/offers?limit=101', 'limit', 'invalid_parameter'],
    ['/vouchers/offers?category=Dating', 'category', 'invalid_parameter'],
    ['/vouchers/offers?minValue=-1', 'minValue', 'invalid_parameter'],
    ['/vouchers/offers?minValue=1e3', 'minValue', 'invalid_parameter'],
    ['/vouchers/offers?minValue=Infinity', 'minValue', 'invalid_parameter'],
    ['/vouchers/offers?maxValue=ten', 'maxValue', 'invalid_parameter'],
    ['/vouchers/offers?minValue=5&maxValue=4', 'minValue', 'invalid_parameter'],
    ['/vouchers/offers?subType=Fuel', 'subType', 'unknown_parameter'],
    ['/vouchers/brands?limit=5', 'limit', 'unknown_parameter'],
    ['/vouchers/countries?x=5', 'x', 'unknown_parameter'],
    ['/vouchers/filters?x=5', 'x', 'unknown_parameter'],
    ['/vouchers/offers/AMZ_US_25?x=5', 'x', 'unknown_parameter'],
    ['/topups/offers?region=nowhere', 'region', 'invalid_parameter'],
    ['/topups/offers?operator=a&operator=b', 'operator', 'repeated_parameter'],
    ['/topups/offers?country=12', 'country', 'invalid_parameter'],
    ['/topups/countries?x=5', 'x', 'unknown_parameter'],
    ['/topups/regions?x=5', 'x', 'unknown_parameter'],
    ['/esims/offers?regional=yes', 'regional', 'invalid_parameter'],
    ['/esims/offers?regional=TRUE', 'regional', 'invalid_parameter'],
    ['/esims/offers?regional=true&regions=South%20Asia', 'regions', 'invalid_parameter'],
    ['/esims/offers?regional=true&region=south-america', 'region', 'invalid_parameter'],
    ['/esims/offers?regions=Asia&region=africa', 'region', 'invalid_parameter'],
    ['/esims/offers?regions=Europe', 'regions', 'invalid_parameter'],
    ['/esims/offers?covers=FR,UK', 'covers', 'invalid_parameter'],
    ['/esims/offers?covers=FR,,DE', 'covers', 'invalid_parameter'],
    [`/esims/offers?covers=${codes}`, 'covers', 'invalid_parameter'],
    ['/esims/offers?duration=0', 'duration', 'invalid_parameter'],
    ['/esims/offers?duration=7.5', 'duration', 'invalid_parameter'],
    ['/esims/offers?q=%C0%AF', 'q', 'invalid_parameter'],
  ])('%s: %s, %s', async (path, parameter, code) => {
    const { status, body, headers } = await get(path)
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

  test('50 codes to cover are taken', async () => {
    const { status } = await get(`/esims/offers?covers=${Array(50).fill('FR').join(',')}`)
    expect(status).toBe(200)
  })
})
