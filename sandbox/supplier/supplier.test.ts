import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiKey, ask, startTestSupplier } from './client.fixture.ts'
import type { Supplier } from './server.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startTestSupplier({ offers: 12_000 })
})
afterAll(() => supplier.stop())
const get = (path: string) => ask(supplier.url + path)
const admin = (path: string, body: unknown) => ask(`${supplier.url}/_admin/${path}`, body)

test('wants the key everywhere but for health, rates and images', async () => {
  for (const path of ['/v1/balance', '/v1/esim/offers?_limit=1&_offset=0', '/_admin/ledger']) {
    const response = await fetch(supplier.url + path, { headers: { authorization: 'Bearer no' } })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ errorCode: 'NOT_AUTHORIZED', fields: {} })
  }
  expect((await fetch(`${supplier.url}/healthz`)).status).toBe(200)
  const image = await fetch(`${supplier.url}/assets/brands/STEAM/gift.svg`)
  expect(image.headers.get('content-type')).toContain('image/svg+xml')
})

test('wants _limit and _offset on every list', async () => {
  for (const query of [
    '',
    '?_limit=1',
    '?_offset=0',
    '?_limit=0&_offset=0',
    '?_limit=1025&_offset=0',
    '?_limit=x&_offset=-1',
  ]) {
    const { status, body } = await get(`/v1/vouchers/offers${query}`)
    expect(status).toBe(400)
    expect(body.errorCode).toBe('INVALID_REQUEST')
    expect(Object.keys(body.fields).length).toBeGreaterThan(0)
  }
})

test('pages through each whole list', async () => {
  const seen: Record<string, number> = {}
  for (const family of ['vouchers', 'topups', 'esim']) {
    const first = await get(`/v1/${family}/offers?_limit=1024&_offset=0`)
    let count = 0
    for (let offset = 0; offset < first.body.total; offset += 1024) {
      const page = await get(`/v1/${family}/offers?_limit=1024&_offset=${offset}`)
      count += page.body.list.length
    }
    expect(count).toBe(first.body.total)
    seen[family] = count
  }
  expect(seen).toEqual({ vouchers: 5400, topups: 4200, esim: 2400 })
})

test('answers 404 for what it does not have', async () => {
  for (const path of [
    '/v1/esim/offers/NONE',
    '/v1/vouchers/purchases/NONE',
    '/v1/brands/NONE',
    '/v1/esim/8910390000000000000/plans',
    '/v1/nothing',
    '/v1/esim/purchases/NONE/refund',
  ]) {
    const { status, body } = await get(path)
    expect([path, status, body.errorCode]).toEqual([path, 404, 'NOT_FOUND'])
  }
})

test('describes brands', async () => {
  const { body } = await get('/v1/brands/STARBUCKS')
  expect(body).toMatchObject({ brand: 'STARBUCKS', brandName: 'Starbucks' })
  expect(body.description).toContain('coffee')
  expect((await fetch(body.brandGiftImage)).status).toBe(200)
})

test('gives rates in the format of Frankfurter', async () => {
  const { body } = await get('/rates/v1/latest?base=USD&symbols=EUR,JPY')
  const today = new Date().toISOString().slice(0, 10)
  expect(body).toEqual({ amount: 1, base: 'USD', date: today, rates: { EUR: 0.8638, JPY: 154.9 } })
  const euros = await get('/rates/v1/latest?base=EUR')
  expect(euros.body.rates.USD).toBeCloseTo(1 / 0.8638, 4)
  expect(euros.body.rates.EUR).toBeUndefined()
  expect((await get('/rates/v1/latest?base=ZZZ')).status).toBe(404)
  const all = await get('/rates/v1/latest')
  expect(Object.keys(all.body.rates)).toHaveLength(29)
  expect(all.body.rates).not.toHaveProperty('NGN')
})

test('refuses broken bodies', async () => {
  for (const body of ['{', '[]', '"x"', '']) {
    const response = await fetch(`${supplier.url}/v1/esim/purchases`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ errorCode: 'INVALID_REQUEST' })
  }
})

test('misbehaves when told, and stops when told', async () => {
  const list = '/v1/topups/offers?_limit=10&_offset=5'
  await admin('faults', { mode: 'down' })
  expect(await get(list)).toMatchObject({
    status: 503,
    body: { errorCode: 'SYSTEM_UNAVAILABLE' },
  })
  await admin('faults', { mode: 'down', only: '/purchases' })
  expect((await get(list)).status).toBe(200)
  await admin('faults', { mode: 'drop' })
  await expect(get(list)).rejects.toThrow()
  await admin('faults', { mode: 'partial', after: 8 })
  expect((await get(list)).body).toMatchObject({ total: 4200, list: { length: 3 } })
  await admin('faults', { mode: 'lie', total: 7 })
  expect((await get(list)).body).toMatchObject({ total: 7, list: { length: 10 } })
  await admin('faults', { mode: 'shrink', share: 0.5 })
  expect((await get(list)).body.total).toBe(2100)
  await admin('faults', { mode: 'slow', delayMs: 60 })
  const started = performance.now()
  await get(list)
  expect(performance.now() - started).toBeGreaterThan(55)
  expect((await admin('faults', { mode: 'sulk' })).status).toBe(400)
  await admin('faults', { mode: 'ok' })
  expect((await get(list)).body.total).toBe(4200)
})

test('changes an offer when told', async () => {
  const id = 'STEAM_US_50_EGIFT'
  const before = (await get(`/v1/vouchers/offers/${id}`)).body
  await admin('offers', { offerId: id, price: before.price.fixed * 2, enabled: false })
  const after = (await get(`/v1/vouchers/offers/${id}`)).body
  expect(after).toMatchObject({
    enabled: false,
    price: { fixed: 10_000 },
    cost: { fixed: before.cost.fixed * 2 },
  })
  expect((await admin('offers', { offerId: 'NONE' })).status).toBe(404)
})
