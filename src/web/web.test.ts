import { describe, expect, test } from 'vitest'
import type { LiveCatalog } from '../catalog/catalog.ts'
import { internalRule, type RefusalCode, rules } from '../lib/refusal.ts'
import { structureFaults } from './frame/structure.fixture.ts'
import { read, website } from './frame/website.fixture.ts'

const { get } = website()

describe('pages', () => {
  test.each(['/', '/search', '/how-it-works', '/terms', '/errors', '/buy/nosuch'])(
    '%s runs nothing and is framed nowhere',
    async (url) => {
      const { headers } = await get(url)
      const policy = headers['content-security-policy']
      expect(policy).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self'/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('script-src')
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      })
    },
  )

  test('may be kept for a minute and are not sent twice', async () => {
    const first = await get('/search?q=amazon')
    expect(first.headers['cache-control']).toBe('public, max-age=60')
    const etag = String(first.headers.etag)
    const again = await get('/search?q=amazon', { 'if-none-match': `W/${etag}` })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const other = await get('/search?q=amazon', { 'if-none-match': '"other"' })
    expect(other.statusCode).toBe(200)
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
      expect(body).toContain('Offer not found')
      expect(body).toContain('<a class="button" href="/">')
      expect(body).toContain('<meta name="robots" content="noindex">')
    },
  )

  test('that fail say so in words, and the log says why', async () => {
    const broken: LiveCatalog = {
      current: () => {
        throw new Error('no catalog')
      },
      replace: () => undefined,
    }
    const site = website({ liveCatalog: broken })
    const { statusCode, body } = await site.get('/buy/AMZ_US_25')
    expect(statusCode).toBe(internalRule.status)
    expect(body).toContain('Something went wrong')
    expect(body).not.toContain('no catalog')
    expect(site.logged.filter((line) => line.includes('no catalog'))).toHaveLength(1)
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
    expect(last?.body).toContain('Too many requests')
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
  test('names only addresses that answer', async () => {
    const { body } = await get('/')
    const links = [...body.matchAll(/ href="(\/(?:ai|buy|errors|search|how|terms)[^"#]*)"/g)].map(
      ([, link = '']) => read(link),
    )
    expect(links.length).toBeGreaterThan(10)
    for (const link of links) expect((await get(link)).statusCode, link).toBe(200)
  })
})

test('every error that the store can answer is explained where its type points', async () => {
  const { body } = await get('/errors')
  expect(structureFaults(body)).toEqual([])
  const rows = body.split('<div id="').slice(1)
  for (const code of Object.keys(rules) as RefusalCode[]) {
    const row = rows.find((each) => each.startsWith(`${code}"`)) ?? ''
    expect(row, code).toContain(`${rules[code].status} ${read(rules[code].title)}`)
  }
  for (const id of ['internal_error', 'unread-invalid_http', 'orders-expired']) {
    expect(body).toContain(`<div id="${id}">`)
  }
})

test('what pages need is served here, for as long as its address names it', async () => {
  const { body: page } = await get('/')
  const [, styleUrl = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(page) ?? []
  const style = await get(styleUrl)
  expect(style.headers['content-type']).toBe('text/css; charset=utf-8')
  expect(style.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await get('/style.css?v=other')).headers['cache-control']).toBe('public, max-age=60')
  expect(style.body).not.toMatch(/@import|url\(/)
  const logo = await get('/logo.svg')
  expect(logo.headers['content-type']).toContain('image/svg+xml')
  expect((await get('/favicon.ico')).statusCode).toBe(200)
})
