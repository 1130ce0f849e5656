import { describe, expect, test } from 'vitest'
import { callerFor, expectDiscoveryRefusal, expectProblem } from './reading.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)

const discoveryPaths = [
  '/ai',
  '/ai/',
  '/ai/capabilities',
  '/ai/vouchers',
  '/ai/topups',
  '/ai/esims',
]
const catalogPaths = [
  '/api/catalog/vouchers/offers',
  '/api/catalog/vouchers/offers/TEST-VOUCHER-OK',
  '/api/catalog/vouchers/brands',
  '/api/catalog/vouchers/countries',
  '/api/catalog/vouchers/filters',
  '/api/catalog/topups/offers',
  '/api/catalog/topups/offers/TEST-TOPUP-OK',
  '/api/catalog/topups/countries',
  '/api/catalog/topups/regions',
  '/api/catalog/esims/offers',
  '/api/catalog/esims/offers/TEST-ESIM-OK',
]
const manifestPaths = ['/.well-known/x402', '/api/catalog']
const readingPaths = [...discoveryPaths, ...catalogPaths]
const purchasePaths = ['vouchers', 'topups', 'esims'].map(
  (family) => `/api/catalog/${family}/purchase/info`,
)
const someOrder = `/api/catalog/orders/ord_${'0'.repeat(26)}`

describe('reading', () => {
  test.each(readingPaths)('%s has a tag, and 304 for who has it', async (path) => {
    const first = await call(path)
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const kept = path.startsWith('/ai') ? 'public, max-age=60' : 'no-cache'
    expect(first.headers.get('cache-control')).toBe(kept)
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[\w-]{16,}"$/)
    const again = await call(path, { headers: { 'if-none-match': `"other", W/${tag}` } })
    expect([again.status, again.text]).toEqual([304, ''])
    expect(again.headers.get('etag')).toBe(tag)
    expect(again.headers.get('cache-control')).toBe(kept)
    const changed = await call(path, { headers: { 'if-none-match': '"other"' } })
    expect([changed.status, changed.text]).toEqual([200, first.text])
  })

  test.each([...readingPaths, ...manifestPaths])('HEAD %s is GET without a body', async (path) => {
    // A compressed form may get ready between the two, and has a tag of its own.
    const headers = { 'accept-encoding': 'identity' }
    const got = await call(path, { headers })
    const head = await call(path, { method: 'HEAD', headers })
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-type', 'cache-control', 'etag']) {
      expect(head.headers.get(name), name).toBe(got.headers.get(name))
    }
  })

  test('HEAD of what is not there is 404 without a body', async () => {
    for (const path of ['/ai/nothing', '/api/catalog/vouchers/offers/NONE', someOrder]) {
      const { status, text } = await call(path, { method: 'HEAD' })
      expect([status, text], path).toEqual([404, ''])
    }
  })

  test('/ai/ is /ai, and a slash at the end changes nothing elsewhere', async () => {
    expect((await call('/ai/')).text).toBe((await call('/ai')).text)
    for (const path of [...readingPaths, ...manifestPaths].filter((path) => !path.endsWith('/'))) {
      expect((await call(`${path}/`)).status, path).toBe(200)
    }
  })
})

describe('wrong methods and paths', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s on what is only read is 405',
    async (method) => {
      for (const path of [...readingPaths, ...manifestPaths]) {
        const answer = await call(path, { method })
        expect(answer.headers.get('allow'), path).toBe('GET, HEAD, OPTIONS')
        if (path.startsWith('/ai')) expectDiscoveryRefusal(answer, 405)
        else expectProblem(answer, { status: 405, code: 'method_not_allowed' })
      }
    },
  )

  test.each(['PUT', 'PATCH', 'DELETE', 'HEAD'])(
    '%s on what buys is 405 and charges nothing',
    async (method) => {
      for (const path of purchasePaths) {
        const answer = await call(path, { method })
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, OPTIONS, POST'])
        if (method === 'HEAD') continue
        expectProblem(answer, { status: 405, code: 'method_not_allowed', charges: true })
      }
    },
  )

  test('an order is only read, and a refund read and claimed', async () => {
    expect((await call(someOrder, { method: 'POST' })).headers.get('allow')).toBe(
      'GET, HEAD, OPTIONS',
    )
    const refund = await call(`${someOrder}/refund`, { method: 'PUT' })
    expect(refund.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST')
    expectProblem(refund, { status: 405, charges: true })
    for (const path of ['/api/catalog/orders', '/api/catalog/esims/orders/info']) {
      expectProblem(await call(path, { method: 'DELETE' }), { status: 405 })
    }
  })

  test.each([
    '/ai/voucher',
    '/ai/vouchers/1',
    '/ai/index.html',
    '/AI/vouchers',
    '/api',
    '/api/catalog/vouchers',
    '/api/catalog/vouchers/offers/A/B',
    '/api/catalog/vouchers/regions',
    '/api/catalog/topups/brands',
    '/api/catalog/esims/countries',
    '/api/catalog/vouchers/purchase',
    '/api/catalog/gifts/offers',
    '/.well-known/x402.json',
  ])('%s is 404', async (path) => {
    const answer = await call(path)
    if (path.startsWith('/ai')) expectDiscoveryRefusal(answer, 404)
    else expectProblem(answer, { status: 404, code: 'not_found' })
  })
})

describe('from the pages of another origin', () => {
  const origin = 'https://agent.example'

  /** What the stock client sends with a payment, besides the request's own headers. */
  const clientHeaders = 'access-control-expose-headers,content-type,payment-signature'

  test.each(purchasePaths)('%s may be called with a payment', async (path) => {
    const answer = await call(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': clientHeaders,
      },
    })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = (answer.headers.get('access-control-allow-headers') ?? '')
      .toLowerCase()
      .split(/,\s*/)
    for (const name of clientHeaders.split(',')) expect(allowed).toContain(name)
    for (const name of ['sign-in-with-x', 'authorization', 'idempotency-key']) {
      expect(allowed).toContain(name)
    }
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('answers, refusals and demands for payment may be read, with their headers', async () => {
    const exposed = ['payment-required', 'payment-response', 'retry-after', 'etag', 'ratelimit']
    for (const [path, status, method] of [
      ['/ai/vouchers', 200, 'GET'],
      ['/ai/vouchers?limit=0', 400, 'GET'],
      ['/ai/nothing', 404, 'GET'],
      ['/ai/vouchers', 405, 'DELETE'],
      ['/api/catalog', 200, 'GET'],
      ['/api/catalog/topups/offers', 200, 'GET'],
      ['/api/catalog/vouchers/purchase/info', 402, 'POST'],
      ['/api/catalog/orders', 402, 'GET'],
    ] as const) {
      const answer = await call(path, { method, headers: { origin } })
      expect(answer.status, path).toBe(status)
      expect(answer.headers.get('access-control-allow-origin'), path).toBe('*')
      const names = (answer.headers.get('access-control-expose-headers') ?? '').toLowerCase()
      for (const name of exposed) expect(names, path).toContain(name)
    }
  })
})
