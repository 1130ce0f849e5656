import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import {
  esim,
  fixed,
  fixturePricing,
  shopOffers,
  snapshotOf,
  topup,
  voucher,
} from '../../test/fixtures/offers.ts'
import { buildCatalog, createShelf, type Shelf } from '../goods/catalog.ts'
import { internalRule, rules } from '../http/refusals.ts'
import { refusalCodes } from '../primitives/refusal.ts'
import { routeWeb } from './routes.ts'
import { dataOf, structureFaults } from './structure.fixture.ts'

const breakout = `</title></script><script>alert(1)</script><!-- "' onerror="x" & é`

const odd = [
  voucher('HOSTILE', {
    brandName: breakout,
    description: breakout,
    shortNotes: breakout,
    notes: `First.\n\nSecond ${breakout}`,
    redemptionInstructions: breakout,
    subTypes: [breakout],
    regions: [breakout],
    image: `https://img.example/a.png?"><script>alert(1)</script>`,
  }),
  topup('FREE_MINUTES', {
    allowance: { voiceUnlimited: true, smsNumber: 1, dataGb: 0.5, durationDays: 1 },
  }),
  voucher('PRICED_IN_CLP', { price: fixed(9000, 'CLP', 1), country: 'CL' }),
  esim('ESIM-UK', { country: 'GB', coverage: [{ country: 'GB', speeds: ['5G', '4G'] }] }),
  voucher('CHEAP', { price: fixed(50), faceValue: fixed(50) }),
]

function website(changes: { shelf?: Shelf; isSandbox?: boolean; markupBps?: number } = {}) {
  const pricing = fixturePricing({ markupBps: changes.markupBps ?? 0 })
  const catalog = buildCatalog(snapshotOf([...shopOffers, ...odd]), pricing)
  const shelf = changes.shelf ?? createShelf(catalog)
  const { app, deps, logged, pass } = testApp({ shelf, pricing })
  routeWeb(app, {
    ...deps,
    networkName: 'Base',
    fulfillmentDeadlineSeconds: 600,
    isSandbox: changes.isSandbox ?? false,
  })
  const get = async (url: string, headers: Record<string, string> = {}) => {
    pass(1_000)
    return app.inject({ method: 'GET', url, headers })
  }
  return { app, get, logged }
}

const { app, get } = website()

describe('the page of an offer', () => {
  test('says what it is, what it costs, what is delivered, and when money comes back', async () => {
    const { statusCode, headers, body } = await get('/buy/AMZ_US_25')
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(structureFaults(body)).toEqual([])
    expect(body).toContain('<html lang="en">')
    expect(body).toContain(
      '<title>Amazon.com $25 gift voucher (United States of America) · Test Kiosk</title>',
    )
    expect(body).toContain('<data value="25.00">25.00</data> USDC')
    expect(body).toContain('Paid in USDC on Base')
    expect(body).toContain('After 10 minutes without delivery')
    expect(body).toContain('Refunded automatically and in full to the payer if no code is issued')
    expect(body).toContain('Valid in the US.')
    expect(body).toContain('Long notes.')
    expect(body).toContain('Enter the code at checkout.')
    expect(body).toContain(
      '<img class="face" src="https://img.example/amz.png" alt="Amazon.com gift card"',
    )
    expect(body).toContain('Checkout for people opens later.')
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
    expect(body).toContain('This costs more than 1 USD. Stock x402 clients refuse')
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
      /<meta name="description" content="Amazon.de €10 gift voucher \(Germany\): 11.50 USDC/,
    )
    expect(dataOf(body)).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Product',
      name: 'Amazon.de €10 gift voucher (Germany)',
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
    expect(body).toContain('You choose the value: $5 to $100, in steps of $1.')
    expect(dataOf(body)).toMatchObject({
      offers: { '@type': 'AggregateOffer', lowPrice: '5.13', highPrice: '102.50' },
    })
    expect(body).toContain('<code>value</code>')
  })

  test('says why an offer is not sold, and names no price', async () => {
    const { statusCode, body } = await get('/buy/ADDRESS_US_5')
    expect(statusCode).toBe(200)
    expect(body).toContain('Not sold now')
    expect(body).toContain('The brand asks for recipient.address.street')
    expect(dataOf(body)).toMatchObject({
      offers: { availability: 'https://schema.org/OutOfStock' },
    })
    expect(JSON.stringify(dataOf(body))).not.toContain('"price"')
    const { body: noRate } = await get('/buy/PRICED_IN_CLP')
    expect(noRate).toContain('priced in CLP, for which the store has no exchange rate')
  })

  test('lists what a plan gives and where it works', async () => {
    const plan = read((await get('/buy/ESIM-EU-30D-5GB')).body)
    for (const fact of ['5 GB', '30 days', '3 countries', 'Western Europe, Eastern Europe', '4G']) {
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
    expect(body).not.toContain('href="/buy/AMZ_US_25"')
    expect(body).not.toContain('href="/buy/AMZ_DE_10"')
    expect((await get('/buy/PLAY_JP_1000')).body).not.toContain('id="more"')
  })

  test('lets nothing out of the catalog become markup', async () => {
    const { body } = await get('/buy/HOSTILE')
    expect(structureFaults(body)).toEqual([])
    expect(body.match(/<script/g)).toHaveLength(1)
    expect(body).not.toContain('<!--')
    expect(dataOf(body)).toMatchObject({ brand: { name: breakout } })
    expect((await get('/')).body).not.toContain('<script>alert')
  })
})

describe('pages', () => {
  test.each(['/', '/errors', '/buy/AMZ_US_25', '/buy/nosuch'])(
    '%s runs nothing and is framed nowhere',
    async (url) => {
      const { headers } = await get(url)
      const policy = headers['content-security-policy']
      expect(policy).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self'/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('script-src')
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'permissions-policy': expect.stringContaining('camera=()'),
      })
    },
  )

  test('take pictures from the host of their own picture only', async () => {
    const policyOf = async (url: string) => (await get(url)).headers['content-security-policy']
    expect(await policyOf('/buy/AMZ_US_25')).toContain(
      "img-src 'self' https://kiosk.example https://img.example;",
    )
    expect(await policyOf('/buy/MCD_US_10')).not.toContain('img.example')
  })

  test('may be kept for a minute and are not sent twice', async () => {
    const first = await get('/buy/AMZ_US_25')
    expect(first.headers['cache-control']).toBe('public, max-age=60')
    const etag = String(first.headers.etag)
    const again = await get('/buy/AMZ_US_25', { 'if-none-match': `W/${etag}` })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const other = await get('/buy/AMZ_US_25', { 'if-none-match': '"other"' })
    expect(other.statusCode).toBe(200)
  })

  test('answer HEAD like GET, and other methods with 405', async () => {
    const head = await app.inject({ method: 'HEAD', url: '/buy/AMZ_US_25' })
    expect([head.statusCode, head.body]).toEqual([200, ''])
    const post = await app.inject({ method: 'POST', url: '/buy/AMZ_US_25' })
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  test.each(['/buy/nosuch', '/buy/%3Cscript%3E', '/buy/__proto__', `/buy/${'A'.repeat(200)}`])(
    '%s is a page that says so and leads home',
    async (url) => {
      const { statusCode, headers, body } = await get(url, { accept: '*/*' })
      expect(statusCode).toBe(404)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['cache-control']).toBe('no-store')
      expect(headers.etag).toBeUndefined()
      expect(structureFaults(body)).toEqual([])
      expect(body).toContain('There is no such offer')
      expect(body).toContain('<a class="button" href="/">')
      expect(body).toContain('<meta name="robots" content="noindex">')
    },
  )

  test('that fail say so in words, and the log says why', async () => {
    const broken: Shelf = {
      current: () => {
        throw new Error('no shelf')
      },
      replace: () => undefined,
    }
    const site = website({ shelf: broken })
    const { statusCode, body } = await site.get('/buy/AMZ_US_25')
    expect(statusCode).toBe(internalRule.status)
    expect(body).toContain('Something went wrong')
    expect(body).not.toContain('no shelf')
    expect(site.logged.filter((line) => line.includes('no shelf'))).toHaveLength(1)
  })

  test('that are asked for too often say when to come again', async () => {
    const site = website()
    const answers = []
    for (let call = 0; call <= 300; call += 1) {
      answers.push(await site.app.inject({ url: '/buy/AMZ_US_25' }))
    }
    const last = answers.at(-1)
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(300)
    expect(last?.statusCode).toBe(429)
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0)
    expect(last?.body).toContain('One moment, please')
  })

  test('of the interfaces keep their own errors', async () => {
    const { statusCode, headers } = await get('/api/catalog/vouchers/offers/nosuch')
    expect([statusCode, headers['content-type']]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ])
  })
})

describe('the front page', () => {
  test('leads to goods of each kind, to the searches and to the manifest', async () => {
    const { statusCode, body } = await get('/')
    expect(statusCode).toBe(200)
    expect(structureFaults(body)).toEqual([])
    for (const path of ['/ai/vouchers', '/ai/topups', '/ai/esims', '/.well-known/x402']) {
      expect(body).toContain(`href="${path}"`)
    }
    expect(body).toContain('mailto:ops@kiosk.example')
    expect(read(body)).toContain(
      "curl 'https://kiosk.example/ai/vouchers?search=amazon&country=US'",
    )
  })

  test('names only addresses that answer', async () => {
    const { body } = await get('/')
    const links = [...body.matchAll(/ href="(\/(?:ai|buy|errors)[^"#]*)"/g)].map(([, link = '']) =>
      read(link),
    )
    expect(links.length).toBeGreaterThan(10)
    for (const link of links) expect((await get(link)).statusCode, link).toBe(200)
  })

  test('stands before a catalog that is empty', async () => {
    const { statusCode, body } = await website({ shelf: createShelf() }).get('/')
    expect([statusCode, structureFaults(body)]).toEqual([200, []])
    expect(body).toContain('0 offers')
  })

  test('of a sandbox says that money and goods are for trying', async () => {
    const { body } = await website({ isSandbox: true }).get('/')
    expect(body).toContain('Sandbox: test money and test goods only.')
    expect(body).toContain('npm run demo')
  })
})

test('every error that the store can answer is explained where its type points', async () => {
  const { body } = await get('/errors')
  expect(structureFaults(body)).toEqual([])
  const rows = body.split('<tr id="').slice(1)
  expect(rows.map((row) => row.slice(0, row.indexOf('"'))).sort()).toEqual(
    [...refusalCodes, 'internal_error'].sort(),
  )
  for (const code of refusalCodes) {
    const row = rows.find((each) => each.startsWith(`${code}"`)) ?? ''
    expect(row, code).toContain(`<span class="status">${rules[code].status}</span>`)
    expect(row, code).toContain(read(rules[code].title))
  }
})

test('what pages need is served here, and a page with it stays under 100 kB', async () => {
  const { body: page } = await get('/buy/AMZ_US_25')
  const [, styleUrl = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(page) ?? []
  const style = await get(styleUrl)
  expect(style.headers['content-type']).toBe('text/css; charset=utf-8')
  expect(style.headers['cache-control']).toContain('max-age=86400')
  expect(style.body).not.toMatch(/@import|url\(/)
  const logo = await get('/logo.svg')
  expect(logo.headers['content-type']).toContain('image/svg+xml')
  const icon = await get('/favicon.ico')
  expect(icon.statusCode).toBe(200)
  const robots = await get('/robots.txt')
  expect(robots.body).toBe('User-agent: *\nAllow: /\n')
  const bytes = [page, style.body, logo.body].reduce((sum, text) => sum + text.length, 0)
  expect(bytes).toBeLessThan(100_000)
})

/** The text that a person reads: without tags, each run of space as one. */
function read(page: string): string {
  return page
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
}
