import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { acme, startAcme } from '../doubles/acme.ts'
import { bookedFor } from './facts.ts'
import { bodyFor, buy, get, until } from './requests.ts'

// Files share their modules: everything that knows the suppliers is loaded anew for this one, and again after it.
vi.resetModules()
afterAll(() => {
  vi.doUnmock('../../src/suppliers/suppliers.ts')
  vi.resetModules()
})

/** A supplier as a contributor adds it: its folder, and its line in `suppliers/suppliers.ts`. */
vi.doMock('../../src/suppliers/suppliers.ts', async (original) => {
  const known = await original<typeof import('../../src/suppliers/suppliers.ts')>()
  const suppliers = { ...known.suppliers, acme }
  return { suppliers, supplierNames: Object.keys(suppliers) }
})

const { newBuyer } = await import('./buyer.ts')
const { openStore } = await import('./store.ts')

const ten = { offerId: 'acme-TEN', firstName: 'Ada', lastName: 'Lovelace' }
let supplier: Awaited<ReturnType<typeof startAcme>>
let store: Awaited<ReturnType<typeof openStore>>

beforeAll(async () => {
  supplier = await startAcme([
    { sku: 'TEN', cents: 1_000 },
    { sku: 'GONE', cents: 500 },
  ])
  const { url } = supplier
  store = await openStore({ suppliers: { acme: { url, key: 'acme-key' } }, offers: 60 })
})
afterAll(async () => {
  await store.close()
  await supplier.close()
})

const referenceOf = (orderId: string) => orderId.replace('_', '')

test('its offers are listed and found beside those of the first supplier', async () => {
  const found = await get(store.url, '/ai/vouchers?brand=acme')
  expect(found.body.items.map(({ offerId }: { offerId: string }) => offerId)).toEqual([
    'acme-GONE',
    'acme-TEN',
  ])
  expect((await get(store.url, '/ai/topups')).body.total).toBeGreaterThan(0)
  expect((await get(store.url, '/readyz')).status).toBe(200)
})

test('an order of each is bought at its own supplier, over HTTP', async () => {
  const buyer = await newBuyer()
  const [ofAcme, ofFirst] = [
    (await buy(store, buyer, 'voucher', ten)).answer.body,
    (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.body,
  ]
  const code = `ACME-${referenceOf(ofAcme.orderId)}`
  expect(ofAcme.orders).toMatchObject([{ state: 'FULFILLED', result: { code } }])
  expect(ofFirst.orders).toMatchObject([{ state: 'FULFILLED' }])
  expect([...supplier.purchases.keys()]).toEqual([referenceOf(ofAcme.orderId)])
  expect(await bookedFor(store, ofAcme.orderId)).toEqual([])
  expect(await bookedFor(store, ofFirst.orderId)).toMatchObject([{ deliveries: 1 }])
})

test('an order that it cannot deliver is refunded', async () => {
  supplier.soldOut.add('GONE')
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer } = await buy(store, buyer, 'voucher', { ...ten, offerId: 'acme-GONE' })
  await until(store, answer.body.orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await buyer.balance()).toBe(before)
})
