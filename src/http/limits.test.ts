import { expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { testApp } from '../../test/fixtures/app.ts'
import { Refusal } from '../lib/refusal.ts'
import { supplierReferenceOf } from '../orders/order.ts'
import { routeSupplierWebhook } from './routes.ts'

/** A store that answers any payment and any sign-in with the status in the path. */
function storeOf() {
  const { app, pass } = testApp()
  app.post('/answers/:status', (request, reply) => {
    const status = Number((request.params as { status: string }).status)
    if (status === 401) throw new Refusal('sign_in_invalid', 'It is not accepted.')
    return reply.status(status).send({})
  })
  const send = (status: number, headers: Record<string, string>, remoteAddress = '192.0.2.1') =>
    app.inject({ method: 'POST', url: `/answers/${status}`, headers, remoteAddress })
  return { send, pass }
}

const payment = { 'payment-signature': 'e30=' }
const signIn = { 'sign-in-with-x': 'e30=' }

test('a client with 20 refused payments or sign-ins in a minute has to wait', async () => {
  const { send, pass } = storeOf()
  for (let at = 0; at < 10; at += 1) {
    expect((await send(402, payment)).statusCode).toBe(402)
    expect((await send(401, signIn)).statusCode).toBe(401)
  }
  for (const headers of [payment, signIn]) {
    const refused = await send(402, headers)
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 60 })
    expect(refused.headers['retry-after']).toBe('60')
    expect(refused.headers['ratelimit-policy']).toBe('"refused";q=20;w=60')
    expect(refused.headers['access-control-allow-origin']).toBe('*')
  }
  expect((await send(402, {})).statusCode).toBe(402)
  expect((await send(402, { 'payment-signature': '' })).statusCode).toBe(402)
  expect((await send(402, payment, '192.0.2.2')).statusCode).toBe(402)
  pass(60_001)
  expect((await send(402, payment)).statusCode).toBe(402)
})

test('payments that are accepted, or refused for another reason, do not count', async () => {
  const { send } = storeOf()
  for (const status of [200, 202, 409, 422, 503]) {
    for (let at = 0; at < 25; at += 1) await send(status, { ...payment, ...signIn })
  }
  for (let at = 0; at < 25; at += 1) await send(402, {})
  expect((await send(402, payment)).statusCode).toBe(402)
})

test('a webhook that is nobody’s is turned away before its body is looked at', async () => {
  const { app } = testApp()
  const order = newOrderId()
  const reference = supplierReferenceOf(order)
  const hastened: string[] = []
  routeSupplierWebhook(app, {
    orders: { hasten: async (order) => void hastened.push(order) },
    notifier: { notify: () => {}, wait: async () => {} },
    suppliers: [
      { webhook: { isGenuine: ({ secret }) => secret === 'ours', referenceIn: () => 'none' } },
      {
        webhook: {
          isGenuine: ({ secret }) => secret === 'of another',
          referenceIn: () => reference,
        },
      },
    ],
  })
  const send = (secret: string, payload: string) =>
    app.inject({
      method: 'POST',
      url: '/webhooks/supplier',
      headers: { secret, 'content-type': 'application/json' },
      payload,
    })
  const large = JSON.stringify({ text: 'x'.repeat(200 * 1_024) })
  // Each supplier has its own header and its own format of the body.
  expect([(await send('of another', '{}')).statusCode, hastened]).toEqual([204, [order]])
  hastened.length = 0
  expect((await send('ours', large)).statusCode).toBe(204)
  expect((await send('ours', '{')).statusCode).toBe(400)
  expect((await send('ours', `${large}${' '.repeat(60 * 1_024)}`)).statusCode).toBe(413)
  for (const body of ['{', large]) expect((await send('theirs', body)).statusCode).toBe(401)
  expect(hastened).toEqual([])
})
