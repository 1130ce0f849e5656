import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Receiver, receiverCertificate, startReceiver } from '../harness/receiver.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, eventually, get, post } from './requests.ts'
import { openStore, type Store } from './store.ts'

let receiver: Receiver
let store: Store
let buyer: Buyer

beforeAll(async () => {
  receiver = await startReceiver(() => ({ status: 204 }))
  const receivers = {
    resolve: async () => ['127.0.0.1'],
    ca: receiverCertificate,
    timeoutMs: 1_000,
  }
  store = await openStore({ receivers })
  buyer = await newBuyer()
})
afterAll(async () => {
  await store.close()
  await receiver.stop()
})

const receivedAt = (path: string) => receiver.received.filter((call) => call.path === path)
const typesAt = (path: string) => receivedAt(path).map(({ body }) => String(JSON.parse(body).type))

/** Buys a test voucher whose states go to that path. */
async function bought(path: string) {
  const webhookUrl = `https://hooks.example.com:${receiver.port}${path}`
  const body = { ...bodyFor('voucher', 'OK'), webhookUrl }
  const bought = await buy(store, buyer, 'voucher', body)
  const { orderId, accessToken, webhook } = bought.answer.body
  const own = { authorization: `Bearer ${accessToken}` }
  const webhookAt = `/api/catalog/orders/${orderId}/webhook`
  return {
    ...bought,
    orderId,
    own,
    secret: String(webhook.secret),
    standing: () => get(store.url, webhookAt, own),
    redeliver: (headers: Record<string, string> = own) =>
      post(store.url, `${webhookAt}/redeliver`, undefined, headers),
  }
}

describe('the states of an order', () => {
  test('arrive in order, each signed so that the stock library takes it', async () => {
    const { orderId, secret, answer } = await bought('/signed')
    expect(answer.body.webhook).toEqual({
      state: 'active',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    await eventually(
      () => typesAt('/signed'),
      (types) => types.includes('order.fulfilled'),
    )
    expect(typesAt('/signed')).toEqual(['order.paid', 'order.fulfilling', 'order.fulfilled'])
    const verifier = new Webhook(secret)
    for (const { body, headers } of receivedAt('/signed')) {
      const signed = headers as Record<string, string>
      expect(verifier.verify(body, signed)).toEqual({
        type: expect.stringMatching(/^order\.[a-z_]+$/),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        data: {
          orderId,
          paymentId: answer.body.paymentId,
          state: expect.stringMatching(/^[A-Z_]+$/),
          refund_state: null,
          transactionHash: answer.body.transactionHash,
          refundTransactionHash: null,
        },
      })
      expect(() => verifier.verify(`${body} `, signed)).toThrow('signature')
      expect(headers['content-type']).toBe('application/json')
    }
    const text = JSON.stringify(receivedAt('/signed'))
    expect(text).not.toContain(answer.body.orders[0].result.code)
    expect(text).not.toContain(answer.body.accessToken)
  })
})

describe('the buyer', () => {
  test('has all events sent again, once a minute, and nobody else does', async () => {
    const { standing, redeliver } = await bought('/again')
    await eventually(standing, ({ body }) => body.events[2]?.state === 'delivered')
    for (const shown of [{}, { authorization: 'Bearer kat_of-somebody-else' }]) {
      const refused = await redeliver(shown)
      expect([refused.status, refused.body.code]).toEqual([404, 'no_webhook'])
    }
    const asked = await redeliver()
    expect(asked.status).toBe(202)
    expect(asked.body.events).toHaveLength(3)
    await eventually(
      () => receivedAt('/again').length,
      (calls) => calls === 6,
    )
    const ids = receivedAt('/again').map(({ headers }) => headers['webhook-id'])
    expect(ids.slice(3)).toEqual(ids.slice(0, 3))
    const tooSoon = await redeliver()
    expect([tooSoon.status, tooSoon.body.code]).toEqual([429, 'rate_limited'])
    expect(tooSoon.headers.get('retry-after')).toBe('60')
  })
})
