import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiKey, ask, startTestSupplier } from './client.fixture.ts'
import type { Supplier } from './server.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startTestSupplier()
})
afterAll(() => supplier.stop())
const get = (path: string) => ask(supplier.url + path)

test('wants the key everywhere but for health, rates and images', async () => {
  for (const path of ['/v1/balance', '/v1/esim/offers?_limit=1&_offset=0', '/_admin/ledger']) {
    const response = await fetch(supplier.url + path, { headers: { authorization: 'Bearer no' } })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ errorCode: 'NOT_AUTHORIZED', fields: {} })
  }
  for (const path of ['/healthz', '/rates/v1/latest', '/assets/brands/TEST/gift.svg'])
    expect((await fetch(supplier.url + path)).status).toBe(200)
})

test.each(['', '?_limit=1', '?_offset=0', '?_limit=0&_offset=0', '?_limit=1025&_offset=0'])(
  'a list with the query "%s" is refused',
  async (query) => {
    const { status, body } = await get(`/v1/vouchers/offers${query}`)
    expect([status, body.errorCode]).toEqual([400, 'INVALID_REQUEST'])
    expect(Object.keys(body.fields).length).toBeGreaterThan(0)
  },
)

test.each([
  '/v1/vouchers/purchases/NONE',
  '/v1/brands/NONE',
  '/v1/esim/8910390000000000000/plans',
  '/v1/nothing',
  '/v1/esim/purchases/NONE/refund',
])('answers 404 for %s', async (path) => {
  expect(await get(path)).toMatchObject({ status: 404, body: { errorCode: 'NOT_FOUND' } })
})

test('gives rates in the format of Frankfurter', async () => {
  const { body } = await get('/rates/v1/latest?base=USD&symbols=EUR,JPY')
  const today = new Date().toISOString().slice(0, 10)
  expect(body).toEqual({ amount: 1, base: 'USD', date: today, rates: { EUR: 0.8638, JPY: 154.9 } })
  expect((await get('/rates/v1/latest?base=ZZZ')).status).toBe(404)
  const all = (await get('/rates/v1/latest')).body.rates
  expect(Object.keys(all)).toHaveLength(29)
  expect(all).not.toHaveProperty('NGN')
})

test.each(['{', '[]', '"x"', ''])('refuses the body %s', async (body) => {
  const response = await fetch(`${supplier.url}/v1/esim/purchases`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body,
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
})
