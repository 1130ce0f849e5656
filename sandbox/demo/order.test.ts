import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import { expect, test } from 'vitest'
import type { Order } from './answers.ts'
import { demoAt, orderIn, sandbox, transaction } from './demo.fixture.ts'
import { buy, follow, goodsOf } from './order.ts'
import { type Scripted, scriptedStore } from './scripted-store.fixture.ts'

const path = '/api/catalog/vouchers/purchase/info'
const network = 'eip155:84532'

const priced: Scripted = {
  status: 402,
  body: {},
  headers: {
    'payment-required': encodePaymentRequiredHeader({
      x402Version: 2,
      resource: { url: 'http://store.example', description: '', mimeType: 'application/json' },
      accepts: [
        {
          scheme: 'exact',
          network,
          asset: sandbox.usdc,
          amount: '500000',
          payTo: '0x000000000000000000000000000000000000dEaD',
          maxTimeoutSeconds: 300,
          extra: { name: 'USDC', version: '2' },
        },
      ],
    }),
  },
}

function settled(order: Order, receipt: object = {}): Scripted {
  const paid = { success: true, transaction, network, amount: '500000', ...receipt } as const
  return {
    status: order.orders[0].state === 'FULFILLED' ? 200 : 202,
    body: { ...order, accessToken: 'kat_1' },
    headers: { 'payment-response': encodePaymentResponseHeader(paid), 'retry-after': '7' },
  }
}

async function bought(answer: Scripted, further: Record<string, Scripted[]> = {}) {
  const store = await scriptedStore({ [`POST ${path}`]: [priced, answer], ...further })
  const { demo, waited } = demoAt(store.url)
  return { ...store, demo, waited, buying: buy(demo, 'voucher', { offerId: 'TEST-VOUCHER-OK' }) }
}

test('one call: the 402 is answered with a payment, under one key', async () => {
  const { buying, received } = await bought(settled(orderIn('FULFILLED')))
  expect(await buying).toMatchObject({ paid: 500_000n, status: 200, accessToken: 'kat_1' })
  const [first, second] = received.map(({ headers }) => headers)
  expect(first).not.toHaveProperty('payment-signature')
  expect(second).toHaveProperty('payment-signature')
  expect(first?.['idempotency-key']).toMatch(/^[A-Za-z0-9_-]{16,128}$/)
  expect(second?.['idempotency-key']).toBe(first?.['idempotency-key'])
})

test.each([
  ['for another transaction', { transaction: `0x${'cd'.repeat(32)}` }],
  ['of another amount', { amount: '500001' }],
  ['of a failure', { success: false }],
])('a receipt %s is not believed', async (_, receipt) => {
  const { buying } = await bought(settled(orderIn('FULFILLED'), receipt))
  await expect(buying).rejects.toThrow('PAYMENT-RESPONSE does not fit the order')
})

test('a proven payment without a receipt is a fault of the store', async () => {
  const { headers: _, ...bare } = settled(orderIn('FULFILLED'))
  await expect((await bought(bare)).buying).rejects.toThrow('lacks the PAYMENT-RESPONSE header')
})

test('goods without a payment are a fault of the store', async () => {
  const { url } = await scriptedStore({ [`POST ${path}`]: [settled(orderIn('FULFILLED'))] })
  await expect(buy(demoAt(url).demo, 'voucher', {})).rejects.toThrow('without any payment')
})

test("a refusal carries the store's reason", async () => {
  const body = { code: 'payment_invalid', message: 'Expired.' }
  const { buying } = await bought({ ...priced, body })
  await expect(buying).rejects.toThrow(`POST ${path} answered 402 (payment_invalid): Expired.`)
})

test('an order is asked for as often as the store says, with the access token', async () => {
  const location = '/api/catalog/orders/ord_1'
  const { buying, demo, waited, received } = await bought(settled(orderIn('FULFILLING')), {
    [`GET ${location}`]: [
      { status: 200, body: orderIn('FULFILLING') },
      { status: 200, body: orderIn('FULFILLED') },
    ],
  })
  const { order } = await follow(demo, await buying)
  expect(goodsOf(order)).toEqual({ code: 'SBX-1' })
  // The purchase says 7 seconds; the order says nothing, so the manifest's 5 apply.
  expect(waited).toEqual([7, 5])
  const polls = received.filter(({ line }) => line === `GET ${location}`)
  expect(polls.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer kat_1',
    'Bearer kat_1',
  ])
})

test('an order that never ends is given up after a minute', async () => {
  const still = Array.from({ length: 20 }, () => ({ status: 200, body: orderIn('FULFILLING') }))
  const { buying, demo, waited } = await bought(settled(orderIn('FULFILLING')), {
    'GET /api/catalog/orders/ord_1': still,
  })
  await expect(follow(demo, await buying)).rejects.toThrow('ord_1 is still FULFILLING')
  expect(waited.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(60)
})

test('a failed order has no goods, and says why', () => {
  expect(() => goodsOf(orderIn('FULFILLMENT_FAILED'))).toThrow('fulfillment_failed, Rejected.')
})

test('goods that are kept back are no goods', () => {
  const order = orderIn('FULFILLED')
  const [item] = order.orders
  expect(() => goodsOf({ ...order, orders: [{ ...item, result: null }] })).toThrow('with goods')
})
