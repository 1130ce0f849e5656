import { describe, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { bookedFor, lifeOf } from './facts.ts'
import { bodyFor, buy, type Kind, post, until } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore()

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
const delivered: Readonly<Record<Kind, object>> = {
  voucher: { code: expect.stringMatching(/^SBX-/), instructions: expect.any(String) },
  topup: {
    msisdn: expect.stringMatching(/^\+1202\d{7}$/),
    confirmationNumber: expect.stringMatching(/^\d+$/),
    credited: { amount: expect.any(Number), currency: 'USD', currencyDivisor: 100 },
  },
  esim: {
    iccid: expect.stringMatching(/^89\d{17,18}$/),
    activationCode: expect.any(String),
    lpa: expect.stringMatching(/^LPA:1\$/),
    qrPng: expect.stringMatching(/^data:image\/png;base64,/),
    qrSvg: expect.stringMatching(/^<svg/),
  },
}

/** Of a buyer who does not wait. */
const headers = { prefer: 'wait=0' }

/** Buys, and follows the order with its token until it has an end. */
async function follow(kind: Kind, outcome: string) {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const how = outcome === 'OK' ? {} : { headers }
  const { answer, accepts } = await buy(store, buyer, kind, bodyFor(kind, outcome), how)
  const bearer = { authorization: `Bearer ${answer.body.accessToken}` }
  const { orderId } = answer.body
  const order = await until(
    store,
    orderId,
    ({ refund_state, orders: [{ state }] }) =>
      state === 'FULFILLED' || refund_state === 'REFUNDED' || refund_state === 'REFUND_FAILED',
    bearer,
  )
  const life = await lifeOf(store, orderId)
  const booked = await bookedFor(store, orderId)
  const spent = before - (await buyer.balance())
  return { buyer, answer, accepts, orderId, order, life, booked, spent }
}

const straight = ['PAYMENT_PENDING', 'PAID', 'FULFILLING', 'FULFILLED']
const back = ['PAYMENT_PENDING', 'PAID', 'FULFILLING', 'FULFILLMENT_FAILED']

describe.concurrent.each(kinds)('the test offers of kind %s', (kind) => {
  test('OK comes in the same answer', async () => {
    const { answer, accepts, booked, life, spent } = await follow(kind, 'OK')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('location')).toBeNull()
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toMatchObject({
      paymentId: expect.any(String),
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      accessToken: expect.stringMatching(/^kat_/),
      orders: [{ kind, state: 'FULFILLED', agent_action: null, error: null }],
      refund_state: null,
      refund_contract: null,
    })
    expect(answer.body.orders[0].result).toMatchObject(delivered[kind])
    const receipt = JSON.parse(atob(answer.headers.get('payment-response') ?? ''))
    expect(receipt).toMatchObject({
      success: true,
      transaction: answer.body.transactionHash,
      network: 'eip155:84532',
      amount: accepts.amount,
    })
    expect(life).toEqual({ states: straight, refunds: [] })
    expect(booked).toMatchObject([{ status: 'DONE', deliveries: 1 }])
    expect(spent).toBe(BigInt(accepts.amount))
  })

  test('SLOW is promised with 202 and comes while its buyer polls', async () => {
    const { answer, accepts, orderId, order, booked, life, spent } = await follow(kind, 'SLOW')
    expect(answer.status).toBe(202)
    expect(answer.headers.get('location')).toBe(`/api/catalog/orders/${orderId}`)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(answer.headers.get('payment-response')).not.toBeNull()
    expect(answer.body.orders).toMatchObject([
      { state: 'FULFILLING', agent_action: 'wait', result: null },
    ])
    const [{ fulfillment_deadline }] = answer.body.orders
    expect(Date.parse(fulfillment_deadline) - Date.now()).toBeGreaterThan(500_000)
    expect(order.orders).toMatchObject([{ state: 'FULFILLED', result: delivered[kind] }])
    expect(order).not.toHaveProperty('accessToken')
    expect(life).toEqual({ states: straight, refunds: [] })
    expect(booked).toMatchObject([{ deliveries: 1 }])
    expect(spent).toBe(BigInt(accepts.amount))
  })

  test('LOST is delivered once although the answer of the supplier was lost', async () => {
    const { accepts, order, booked, life, spent } = await follow(kind, 'LOST')
    expect(order.orders).toMatchObject([{ state: 'FULFILLED', result: delivered[kind] }])
    expect(life.states).toEqual(straight)
    expect(booked).toMatchObject([{ status: 'DONE', deliveries: 1, charged: 70 }])
    expect(spent).toBe(BigInt(accepts.amount))
  })

  test.each([
    { outcome: 'FAIL', bookedAs: [{ status: 'FAILED', charged: 0, held: 0, deliveries: 0 }] },
    { outcome: 'DECLINED', bookedAs: [] },
  ])('$outcome is paid back, once and in full', async ({ outcome, bookedAs }) => {
    const { buyer, answer, accepts, order, booked, life, spent } = await follow(kind, outcome)
    expect(answer.status).toBe(202)
    expect(order.orders).toMatchObject([
      {
        state: 'FULFILLMENT_FAILED',
        agent_action: null,
        result: null,
        error: { code: 'fulfillment_failed', message: expect.any(String) },
      },
    ])
    expect(order.refund_state).toBe('REFUNDED')
    expect(order.refund_contract).toMatchObject({
      endpoint: expect.stringMatching(/\/refund$/),
      method: 'POST',
    })
    expect(life).toEqual({ states: back, refunds: ['DUE', 'APPROVED', 'CONFIRMED'] })
    expect(booked).toMatchObject(bookedAs)
    expect(spent).toBe(0n)
    expect(await transfersBetween(store.parts, store.refundWallet, buyer.address)).toMatchObject([
      { value: BigInt(accepts.amount) },
    ])
  })
})

test('what is still on its way is not refundable yet', async () => {
  const body = bodyFor('topup', 'HANG')
  const { answer } = await buy(store, await newBuyer(), 'topup', body, { headers })
  expect(answer).toMatchObject({ status: 202, body: { orders: [{ state: 'FULFILLING' }] } })
  const path = `/api/catalog/orders/${answer.body.orderId}/refund`
  const claim = await post(store.url, path, {}, { 'idempotency-key': 'a-claim-that-is-early' })
  expect(claim).toMatchObject({
    status: 409,
    body: { code: 'not_refundable', charged: 'yes', state: 'FULFILLING' },
  })
})
