import { describe, expect, test } from 'vitest'
import { dataOf, structureFaults } from '../frame/structure.fixture.ts'
import { breakout, read, website } from '../frame/website.fixture.ts'

const { get } = website()

describe('the page of an offer', () => {
  test('says what it is, what it costs, what is delivered, and when money comes back', async () => {
    const { statusCode, headers, body } = await get('/buy/AMZ_US_25')
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(structureFaults(body)).toEqual([])
    expect(body).toContain('<html lang="en">')
    expect(body).toContain('<title>Amazon.com $25 gift card (United States) · Test Kiosk</title>')
    expect(body).toContain('<data value="25.00">25.00</data> USDC')
    expect(body).toContain('Pay in USDC on Base')
    expect(body).toContain('If it isn’t delivered within 10 minutes')
    expect(body).toContain('Refunded automatically and in full if no code is issued')
    expect(body).toContain('Valid in the US.')
    expect(body).toContain('Long notes.')
    expect(body).toContain('Enter the code at checkout.')
    expect(body).toMatch(
      /<div class="face"><span class="card voucher [^"]*" aria-hidden="true"><b>Amazon.com</,
    )
    // A picture from another host would tell that host who looks at what, so only previews use it.
    expect(body).toContain('<meta property="og:image" content="https://img.example/amz.png">')
    expect(body).not.toContain('src="https://img.example')
    expect(body).toContain('For developers:')
    expect(body).not.toContain('Sandbox:')
  })

  test('shows the calls by which an agent buys it, as they are', async () => {
    const { body } = await get('/buy/MCD_US_10')
    expect(read(body)).toContain(
      "curl 'https://kiosk.example/api/catalog/vouchers/purchase/info?offerId=MCD_US_10&firstName=Ada&lastName=Lovelace&email=ada%40example.com'",
    )
    expect(read(body)).toContain(
      `-d '{"offerId":"MCD_US_10","firstName":"Ada","lastName":"Lovelace","email":"ada@example.com"}'`,
    )
    expect(body).toContain('This costs more than 1 USD, which x402 clients refuse')
    expect((await get('/buy/CHEAP')).body).toContain('This costs no more than 1 USD')
  })

  test('carries its address, a preview and data for search engines', async () => {
    const { body } = await get('/buy/AMZ_DE_10')
    const url = 'https://kiosk.example/buy/AMZ_DE_10'
    expect(body).toContain(`<link rel="canonical" href="${url}">`)
    expect(body).toContain('<meta property="og:type" content="product">')
    expect(body).toContain(`<meta property="og:url" content="${url}">`)
    expect(body).toContain('<meta property="product:price:amount" content="11.50">')
    expect(body).toMatch(
      /<meta name="description" content="Amazon.de €10 gift card \(Germany\): 11.50 USDC/,
    )
    expect(dataOf(body)).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Product',
      name: 'Amazon.de €10 gift card (Germany)',
      sku: 'AMZ_DE_10',
      brand: { '@type': 'Brand', name: 'Amazon.de' },
      offers: {
        '@type': 'Offer',
        url,
        price: '11.50',
        priceCurrency: 'USD',
        availability: 'https://schema.org/InStock',
        areaServed: [{ '@type': 'Country', name: 'Germany', identifier: 'DE' }],
        seller: { '@type': 'Organization', name: 'Test Kiosk', url: 'https://kiosk.example' },
      },
    })
  })

  test('tells the bounds and the steps of an open value, with the markup in the price', async () => {
    const { body } = await website({ markupBps: 250 }).get('/buy/AMZ_US_OPEN')
    expect(read(body)).toContain('5.13 to 102.50 USDC')
    expect(body).toContain('Choose a value from $5 to $100, in steps of $1.')
    expect(dataOf(body)).toMatchObject({
      offers: { '@type': 'AggregateOffer', lowPrice: '5.13', highPrice: '102.50' },
    })
    expect(body).toContain('<code>value</code>')
  })

  test('says why an offer is not sold, and names no price', async () => {
    const { statusCode, body } = await get('/buy/ADDRESS_US_5')
    expect(statusCode).toBe(200)
    expect(body).toContain('Currently unavailable')
    expect(body).toContain('The brand asks for details that this store can’t pass on.')
    expect(dataOf(body)).toMatchObject({
      offers: { availability: 'https://schema.org/OutOfStock' },
    })
    expect(JSON.stringify(dataOf(body))).not.toContain('"price"')
    const { body: noRate } = await get('/buy/PRICED_IN_CLP')
    expect(noRate).toContain('We have no exchange rate for its currency.')
  })

  test('lists what a plan gives and where it works', async () => {
    const plan = read((await get('/buy/ESIM-EU-30D-5GB')).body)
    for (const fact of [
      '5 GB',
      '30 days',
      'France + Germany + Poland',
      'Western Europe, Eastern Europe',
      '4G',
    ]) {
      expect(plan).toContain(fact)
    }
    expect(plan.indexOf('France')).toBeLessThan(plan.indexOf('Germany'))
    const bundle = read((await get('/buy/FREE_MINUTES')).body)
    for (const fact of ['500 MB', '1 day', 'Calls Unlimited', 'Text messages 1 message']) {
      expect(bundle).toContain(fact)
    }
  })

  test('leads to the other values of the same brand and country that are sold', async () => {
    const { body } = await get('/buy/AMZ_US_25')
    expect(body).toContain('href="/buy/AMZ_US_OPEN"')
    expect(body).toContain('href="/buy/AMZ_US_25" aria-current="page"')
    expect(body).not.toContain('href="/buy/AMZ_DE_10"')
    expect((await get('/buy/PLAY_JP_1000')).body).not.toContain('class="choices"')
  })

  test('lets nothing out of the catalog become markup', async () => {
    const { body } = await get('/buy/HOSTILE')
    expect(structureFaults(body)).toEqual([])
    // Two blocks of data for search engines, and the scripts for the form and the wallet.
    expect(body.match(/<script/g)).toHaveLength(4)
    expect(body).not.toContain('<!--')
    expect(dataOf(body)).toMatchObject({ brand: { name: breakout } })
    expect((await get('/')).body).not.toContain('<script>alert')
  })
})

test('an id in small letters, or with other signs between its words, leads to the offer', async () => {
  for (const id of ['amz_us_25', 'AMZ-us-25']) {
    const { statusCode, headers } = await website().get(`/buy/${id}`)
    expect([statusCode, headers.location]).toEqual([302, '/buy/AMZ_US_25'])
  }
})
