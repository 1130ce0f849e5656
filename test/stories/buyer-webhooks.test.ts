import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Received,
  type Receiver,
  type Reply,
  receiverCertificate,
  startReceiver,
} from '../harness/receiver.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, eventually, get, post } from './requests.ts'
import { openStore, type Store } from './store.ts'

const local = ['127.0.0.1']
/** What names lead to, by the host; everything else leads to the receiver. */
const addresses = new Map<string, readonly string[]>()
/** How the receiver answers, by the path of a call. */
const replies = new Map<string, (call: Received, nth: number) => Reply>()

let receiver: Receiver
let store: Store
let buyer: Buyer

beforeAll(async () => {
  receiver = await startReceiver((call) => {
    const reply = replies.get(call.path)
    return reply?.(call, receivedAt(call.path).length) ?? { status: 204 }
  })
  const receivers = {
    resolve: async (host: string) => addresses.get(host) ?? local,
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

function at(path: string, host = 'hooks.example.com'): string {
  return `https://${host}:${receiver.port}${path}`
}

/** Buys a test voucher whose states go to that path. */
async function bought(path: string, outcome = 'OK', host?: string) {
  const body = { ...bodyFor('voucher', outcome), webhookUrl: at(path, host) }
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

/** Makes every event that waits due now, as if its time had come. */
const hurry = () => store.query('update webhook_events set due_at = now() where due_at is not null')

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

describe('a receiver', () => {
  test('that fails gets the event again, under its id, with a new timestamp and signature', async () => {
    replies.set('/fails', (_, nth) => ({ status: nth < 3 ? 500 : 200 }))
    const { secret, standing } = await bought('/fails')
    await eventually(
      async () => {
        await hurry()
        return typesAt('/fails')
      },
      (types) => types.includes('order.fulfilled'),
    )
    expect(typesAt('/fails').slice(0, 4)).toEqual([
      ...['order.paid', 'order.paid', 'order.paid'],
      'order.fulfilling',
    ])
    const [first, second] = receivedAt('/fails')
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    const verifier = new Webhook(secret)
    for (const { body, headers } of receivedAt('/fails')) {
      verifier.verify(body, headers as Record<string, string>)
    }
    const { body } = await eventually(standing, (seen) =>
      seen.body.events.every((event: { state: string }) => event.state === 'delivered'),
    )
    expect(body.events[0]).toMatchObject({ attempts: 3, last_answer: 'HTTP 200' })
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
