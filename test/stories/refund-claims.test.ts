import { randomBytes, randomInt } from 'node:crypto'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { emptyWallet, mintUsdc, transfersBetween } from './chain.ts'
import { lifeOf, reported } from './facts.ts'
import { bodyFor, buy, buyDelivered, get, post, until } from './requests.ts'
import { openStore, type Store, useStore } from './store.ts'

let store: Store
const patient = useStore()
/** Its wallet for refunds is emptied while an order waits. */
let poor: Store

// The grace is long, so that an expired order stays REFUND_PENDING until the story says otherwise.
beforeAll(async () => {
  const env = {
    FULFILLMENT_DEADLINE_SECONDS: '1',
    PURCHASE_WAIT_SECONDS: '2',
  }
  const opened = await Promise.all([openStore({ env }), openStore({ env })])
  store = opened[0]
  poor = opened[1]
})
afterAll(() => Promise.all([store.close(), poor.close()]))

function newKey(): Record<string, string> {
  return { 'idempotency-key': `claim-${randomBytes(12).toString('hex')}` }
}

function claimAt(
  { url }: Store,
  orderId: string,
  body: unknown = {},
  headers: Record<string, string> = newKey(),
) {
  return post(url, `/api/catalog/orders/${orderId}/refund`, body, headers)
}

function refundOf({ url }: Store, orderId: string) {
  return get(url, `/api/catalog/orders/${orderId}/refund`)
}

/** An order that has expired, and whose refund waits for the supplier's last word. */
async function expired(at = store) {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  // Each for another phone: what fails for one again and again is refused.
  const msisdn = `+1202${randomInt(2_000_000, 10_000_000)}`
  const { answer } = await buy(at, buyer, 'topup', { ...bodyFor('topup', 'HANG'), msisdn })
  const { orderId, paymentId, transactionHash, accessToken } = answer.body
  const ended = await until(at, orderId, ({ orders }) => orders[0].state === 'EXPIRED')
  expect(ended.refund_state).toBe('REFUND_PENDING')
  const letGo = () =>
    at.admin('/purchases', { transactionId: orderId.replace('_', ''), status: 'FAILED' })
  return { buyer, before, orderId, paymentId, transactionHash, accessToken, letGo }
}

test.concurrent('a claim reports the refund that has begun by itself, until it is paid', async () => {
  const { buyer, before, orderId, paymentId, transactionHash, letGo } = await expired()
  const key = newKey()
  const body = { transactionHash, reason: 'nothing arrived' }
  const first = await claimAt(store, orderId, body, key)
  expect(first).toMatchObject({
    status: 202,
    body: {
      refundId: expect.any(String),
      paymentId,
      orderId,
      state: 'REFUND_PENDING',
      refund_to: buyer.address,
      amount_atomic: '650000',
      amount_atomic_refunded: null,
      amount_atomic_kept: null,
      asset: store.parts.usdc,
      asset_decimals: 6,
      network: 'eip155:84532',
      transactionHash: null,
      reason: 'nothing arrived',
      idempotency_key: key['idempotency-key'],
    },
  })
  expect(first.headers.get('location')).toBe(`/api/catalog/orders/${orderId}/refund`)
  expect(first.headers.get('retry-after')).toBe('5')
  expect(Date.parse(first.body.deadline) - Date.now()).toBeGreaterThan(86_000_000)
  const shouted = { ...body, transactionHash: `0x${transactionHash.slice(2).toUpperCase()}` }
  for (const again of [body, shouted]) {
    expect((await claimAt(store, orderId, again, key)).body).toEqual(first.body)
  }
  expect(await refundOf(store, orderId)).toMatchObject({
    status: 202,
    body: { refundId: first.body.refundId, state: 'REFUND_PENDING' },
  })

  await letGo()
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  const paid = await transfersBetween(store.parts, store.refundWallet, buyer.address)
  expect(paid).toMatchObject([{ value: 650_000n }])
  const done = {
    refundId: first.body.refundId,
    state: 'REFUNDED',
    amount_atomic_refunded: '650000',
    amount_atomic_kept: '0',
    transactionHash: paid[0]?.transactionHash,
  }
  expect(await claimAt(store, orderId, body, key)).toMatchObject({ status: 200, body: done })
  expect(await refundOf(store, orderId)).toMatchObject({ status: 200, body: done })
  expect(await buyer.balance()).toBe(before)
})

test.concurrent('a claim that is not right is refused with its reason', async () => {
  const { orderId } = await expired()
  const key = newKey()
  await claimAt(store, orderId, { reason: 'one' }, key)
  expect(await claimAt(store, orderId, { reason: 'another' }, key)).toMatchObject({
    status: 409,
    body: { code: 'idempotency_conflict', charged: 'yes' },
  })
  expect(await claimAt(store, orderId, {}, {})).toMatchObject({
    status: 400,
    body: { code: 'idempotency_key_missing', parameter: 'Idempotency-Key' },
  })
  expect(await claimAt(store, orderId, {}, { 'idempotency-key': 'short' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_header', parameter: 'Idempotency-Key' },
  })
  for (const name of ['refund_to', 'refundTo', 'to', 'address', 'destination', 'recipient']) {
    const claim = { [name]: '0x00000000000000000000000000000000000000aa' }
    expect(await claimAt(store, orderId, claim)).toMatchObject({
      status: 422,
      body: { code: 'refund_destination_refused', parameter: name },
    })
  }
  for (const claim of [
    { paymentId: 'pay_of_somebody_else' },
    { transactionHash: `0x${'0'.repeat(64)}` },
    { orderIds: ['ord_of_somebody_else'] },
    { amount: '1' },
    { reason: 5 },
  ]) {
    const refused = await claimAt(store, orderId, claim)
    expect(refused, JSON.stringify(claim)).toMatchObject({
      status: 422,
      body: { code: 'invalid_body' },
    })
  }
  const endless = await claimAt(store, orderId, { ['x'.repeat(5_000)]: 1 })
  expect(endless.body.errors).toMatchObject([{ parameter: 'x'.repeat(64) }])
  expect(await claimAt(store, 'ord_00000000000000000000000000')).toMatchObject({
    status: 404,
    body: { code: 'order_not_found' },
  })
  expect((await refundOf(store, 'nonsense')).status).toBe(404)
})

test.concurrent('what was delivered is not refundable, and the answer names the rule', async () => {
  // A busy machine can take longer to deliver than the other stores may.
  const buyer = await newBuyer()
  for (const kind of ['voucher', 'topup', 'esim'] as const) {
    const { orderId } = (await buyDelivered(patient, buyer, kind)).order
    const claim = await claimAt(patient, orderId)
    expect(claim).toMatchObject({
      status: 409,
      body: { code: 'not_refundable', charged: 'yes', state: 'FULFILLED', retryable: false },
    })
    expect(claim.body.refund_rule.length).toBeGreaterThan(20)
    expect(claim.body.detail).toContain(claim.body.refund_rule)
    expect((await refundOf(patient, orderId)).status).toBe(409)
    expect(
      await patient.query('select key from refund_claims where order_id = $1', [orderId]),
    ).toEqual([])
  }
})

test.concurrent('a refund that could not be paid is paid when it is claimed again, once', async () => {
  const { buyer, before, orderId, letGo } = await expired(poor)
  const elsewhere = privateKeyToAddress(generatePrivateKey())
  await emptyWallet(poor.parts, poor.settings.refundKey, elsewhere)
  await letGo()
  const stuck = await until(poor, orderId, ({ refund_state }) => refund_state === 'REFUND_FAILED')
  expect(stuck.orders).toMatchObject([{ state: 'EXPIRED', agent_action: 'stop' }])
  expect(await refundOf(poor, orderId)).toMatchObject({
    status: 200,
    body: {
      state: 'REFUND_FAILED',
      amount_atomic_refunded: '0',
      amount_atomic_kept: '650000',
      error: { code: 'no_float', message: expect.any(String) },
    },
  })
  expect(reported(poor, orderId)).toContain('refund_failed')

  const again = await claimAt(poor, orderId)
  expect(again).toMatchObject({ status: 202, body: { state: 'REFUND_PENDING' } })
  await until(poor, orderId, ({ refund_state }) => refund_state === 'REFUND_FAILED')

  await mintUsdc(poor.parts, poor.refundWallet, 50_000_000n)
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimAt(poor, orderId)))
  for (const claim of claims) expect([200, 202]).toContain(claim.status)
  await until(poor, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await transfersBetween(poor.parts, poor.refundWallet, buyer.address)).toMatchObject([
    { value: 650_000n },
  ])
  expect(await buyer.balance()).toBe(before)
  expect((await lifeOf(poor, orderId)).refunds.at(-1)).toBe('CONFIRMED')
})
