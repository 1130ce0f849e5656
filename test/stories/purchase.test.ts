import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, get, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

let store: Store
let buyer: Buyer

beforeAll(async () => {
  store = await openStore()
  buyer = await newBuyer()
})
afterAll(() => store.close())

test('a voucher is paid for once and its code comes in the same answer', async () => {
  const before = await buyer.balance()
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  expect(answer.status).toBe(200)
  expect(answer.body.orders).toMatchObject([{ state: 'FULFILLED', kind: 'voucher', error: null }])
  expect(answer.body.orders[0].result.code).toMatch(/^SBX-/)
  expect(await buyer.balance()).toBe(before - 500_000n)
})

test('a topup is credited', async () => {
  const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'OK'))
  expect(answer.body.orders[0]).toMatchObject({
    state: 'FULFILLED',
    result: { msisdn: '+12025550123' },
  })
})

test('an eSIM comes with its code as text and pictures', async () => {
  const { answer } = await buy(store, buyer, 'esim', bodyFor('esim', 'OK'))
  expect(answer.body.orders[0].result).toMatchObject({
    iccid: expect.stringMatching(/^89\d{17,18}$/),
    lpa: expect.stringMatching(/^LPA:1\$/),
    qrPng: expect.stringMatching(/^data:image\/png;base64,/),
    qrSvg: expect.stringMatching(/^<svg/),
  })
})

test('what the carrier rejects is paid back on the chain', async () => {
  const before = await buyer.balance()
  const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
  expect(answer.status).toBe(202)
  const order = await until(
    store,
    answer.body.orderId,
    ({ refund_state }) => refund_state === 'REFUNDED',
  )
  expect(order.orders).toMatchObject([
    { state: 'FULFILLMENT_FAILED', error: { code: 'fulfillment_failed' } },
  ])
  expect(await buyer.balance()).toBe(before)
})

test('an order shows its state to who knows it, and its goods to who has the token', async () => {
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  const { orderId, accessToken, orders } = answer.body
  const path = `/api/catalog/orders/${orderId}`
  expect((await get(store.url, path)).body.orders).toMatchObject([
    { state: 'FULFILLED', result: null },
  ])
  const opened = await get(store.url, path, { authorization: `Bearer ${accessToken}` })
  expect(opened.body.orders[0].result.code).toBe(orders[0].result.code)
  expect(opened.body).not.toHaveProperty('accessToken')
})
