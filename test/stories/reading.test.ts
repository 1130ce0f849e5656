import { describe, expect, test } from 'vitest'
import { operations } from '../../src/api/operations.ts'
import { allItems, callerFor, expectDiscoveryRefusal, expectProblem } from './reading.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)

type Item = Readonly<Record<string, unknown>>

// Every answer here is also compared with openapi.json, field by field (every-answer.ts).
describe.each(['vouchers', 'topups', 'esims'])('%s', (family) => {
  test('of discovery are on sale, each with a page', async () => {
    const items = await allItems(call, `/ai/${family}`, 50)
    expect(items.length).toBeGreaterThan(0)
    const page = await call(new URL(String(items[0]?.['buy_url'])).pathname)
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
  })

  test('of the catalog say what a buyer needs, in the list and in detail', async () => {
    const items = await allItems(call, `/api/catalog/${family}/offers`, 100)
    for (const item of items) {
      const { available, usdc, priceType, price, requiredFields } = item
      const about = String(item['offerId'])
      expect(item['kind'], about).toBe(family.slice(0, -1))
      expect('unavailableReason' in item, about).toBe(!available)
      expect(usdc !== undefined, about).toBe(available)
      expect('value' in item, about).toBe(priceType === 'RANGE' && available)
      expect('min' in (price as Item), about).toBe(priceType === 'RANGE')
      expect((requiredFields as string[]).includes('value'), about).toBe(priceType === 'RANGE')
      for (const amount of Object.values({ ...(usdc as Item), decimals: '10000' })) {
        // Whole cents in atomic USDC.
        expect(amount, about).toMatch(/^[1-9]\d*0000$/)
      }
      const { status, body } = await call(
        `/api/catalog/${family}/offers/${encodeURIComponent(about)}`,
      )
      expect(status).toBe(200)
      expect(body).toMatchObject(item)
      expect(body.purchase.bodySchema.properties.offerId.const).toBe(about)
      const required = ['offerId', ...(requiredFields as string[])]
      expect(body.purchase.bodySchema.required).toEqual(expect.arrayContaining(required))
    }
  })
})

test('each list of values agrees with the offers it counts', async () => {
  const vouchers = await allItems(call, '/api/catalog/vouchers/offers', 100)
  const topups = await allItems(call, '/api/catalog/topups/offers', 100)
  const tally = (items: readonly Item[], name: string) => {
    const counts: Record<string, number> = {}
    for (const value of items.flatMap((item) => [item[name] ?? []].flat())) {
      counts[String(value)] = (counts[String(value)] ?? 0) + 1
    }
    return counts
  }
  const countsIn = async (path: string, key: string) => {
    const { body } = await call(`/api/catalog/${path}`)
    return Object.fromEntries(body.items.map((item: Item) => [item[key], item['offers']]))
  }
  expect(await countsIn('vouchers/countries', 'code')).toEqual(tally(vouchers, 'country'))
  expect(await countsIn('topups/countries', 'code')).toEqual(tally(topups, 'country'))
  expect(await countsIn('topups/regions', 'name')).toEqual(tally(topups, 'regions'))
  expect(await countsIn('vouchers/brands', 'brand')).toEqual(tally(vouchers, 'brand'))
})

const operationsByPath = Map.groupBy(operations, ({ path }) => path)

test.each([...operationsByPath.keys()])('methods that %s does not have are 405', async (path) => {
  const own = operationsByPath.get(path) ?? []
  const at = path.replace('{orderId}', `ord_${'0'.repeat(26)}`).replace('{id}', 'TEST-VOUCHER-OK')
  const others = ['POST', 'PUT', 'PATCH', 'DELETE'].filter(
    (name) => !own.some(({ method }) => method === name),
  )
  for (const method of others) {
    const answer = await call(at, { method })
    const allowed = answer.headers.get('allow')?.split(', ')
    expect(allowed).toEqual(expect.arrayContaining(own.map((one) => one.method)))
    const charges = own.some((one) => one.charges)
    if (path.startsWith('/ai')) expectDiscoveryRefusal(answer, 405)
    else expectProblem(answer, { status: 405, code: 'method_not_allowed', charges })
  }
})

describe('from the pages of another origin', () => {
  const origin = 'https://agent.example'

  test('a purchase may be called with everything that clients send', async () => {
    // What the stock client sends with a payment, and what a buyer proves who it is with.
    const sent = [
      ...['access-control-expose-headers', 'content-type', 'payment-signature'],
      ...['sign-in-with-x', 'authorization', 'idempotency-key'],
    ]
    const answer = await call('/api/catalog/vouchers/purchase/info', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': sent.join(),
      },
    })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = answer.headers.get('access-control-allow-headers')?.toLowerCase().split(/,\s*/)
    expect(allowed).toEqual(expect.arrayContaining(sent))
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test.each([
    ['/ai/vouchers?limit=0', 400, 'GET'],
    ['/ai/nothing', 404, 'GET'],
    ['/api/catalog', 200, 'GET'],
    ['/api/catalog/vouchers/purchase/info', 402, 'POST'],
    ['/api/catalog/orders', 402, 'GET'],
  ])('%s, answered %d, may be read with its headers', async (path, status, method) => {
    const answer = await call(path, { method, headers: { origin } })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const names = (answer.headers.get('access-control-expose-headers') ?? '').toLowerCase()
    for (const name of ['payment-required', 'payment-response', 'retry-after', 'ratelimit']) {
      expect(names).toContain(name)
    }
  })
})

test('a question finds what tops up a phone, whose number it tells to nobody', async () => {
  for (const query of ['phone=%2B5355564362', 'query=topup+%2B5355564362']) {
    const { items, ...rest } = (await call(`/ai/search?${query}`)).body
    expect(items.length).toBeGreaterThan(0)
    for (const item of items) expect(item).toMatchObject({ kind: 'topup', country: 'CU' })
    expect(JSON.stringify(rest)).not.toContain('55564362')
  }
  expect(store.logLines.join()).not.toContain('55564362')
})
