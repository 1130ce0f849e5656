import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { emptyWallet, mintUsdc, transfersBetween } from './chain.ts'
import { lifeOf, reported } from './facts.ts'
import { bodyFor, buy, buyDelivered, get, post, supplierSays, until } from './requests.ts'
import { useStore } from './store.ts'

const patient = useStore()
// The grace is long, so that an expired order stays REFUND_PENDING until the story says otherwise.
const env = { FULFILLMENT_DEADLINE_SECONDS: '1', PURCHASE_WAIT_SECONDS: '2' }
const store = useStore({ env })

const newKey = () => ({ 'idempotency-key': `claim-${randomBytes(12).toString('hex')}` })

const refundPath = (orderId: string) => `/api/catalog/orders/${orderId}/refund`
const refundOf = (orderId: string) => get(store.url, refundPath(orderId))
const claim = (orderId: string, body: unknown = {}, headers: Record<string, string> = newKey()) =>
  post(store.url, refundPath(orderId), body, headers)

/** An order that has expired, and whose refund waits for the supplier's last word. */
async function expired() {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'HANG'))
  const { orderId, paymentId, transactionHash } = answer.body
  const ended = await until(store, orderId, ({ orders }) => orders[0].state === 'EXPIRED')
  expect(ended.refund_state).toBe('REFUND_PENDING')
  return { buyer, before, orderId, paymentId, transactionHash }
}

test('a claim reports the refund that has begun by itself, until it is paid', async () => {
  const { buyer, before, orderId, paymentId, transactionHash } = await expired()
  const key = newKey()
  const body = { transactionHash, reason: 'nothing arrived' }
  const first = await claim(orderId, body, key)
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
  expect(first.headers.get('location')).toBe(refundPath(orderId))
  expect(first.headers.get('retry-after')).toBe('5')
  expect(Date.parse(first.body.deadline) - Date.now()).toBeGreaterThan(86_000_000)
  expect((await claim(orderId, body, key)).body).toEqual(first.body)

  // Whoever claims otherwise is refused with the reason.
  const conflict = { code: 'idempotency_conflict', charged: 'yes' }
  expect((await claim(orderId, { reason: 'another' }, key)).body).toMatchObject(conflict)
  const unkeyed = { code: 'idempotency_key_missing', parameter: 'Idempotency-Key' }
  expect((await claim(orderId, {}, {})).body).toMatchObject(unkeyed)
  for (const name of ['refund_to', 'refundTo', 'to', 'address', 'destination', 'recipient']) {
    const elsewhere = { [name]: '0x00000000000000000000000000000000000000aa' }
    const refused = { code: 'refund_destination_refused', parameter: name }
    expect((await claim(orderId, elsewhere)).body).toMatchObject(refused)
  }
  for (const wrong of [
    { paymentId: 'pay_of_somebody_else' },
    { transactionHash: `0x${'0'.repeat(64)}` },
    { orderIds: ['ord_of_somebody_else'] },
    { amount: '1' },
    { reason: 'x'.repeat(501) },
  ]) {
    const refused = await claim(orderId, wrong)
    expect(refused.body, JSON.stringify(wrong)).toMatchObject({ code: 'invalid_body' })
  }

  await supplierSays(store, orderId, 'FAILED')
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
  expect(await claim(orderId, body, key)).toMatchObject({ status: 200, body: done })
  expect(await refundOf(orderId)).toMatchObject({ status: 200, body: done })
  expect(await buyer.balance()).toBe(before)
})

test('what was delivered is not refundable, and the answer names the rule', async () => {
  const { orderId } = (await buyDelivered(patient, await newBuyer(), 'topup')).order
  const answer = await post(patient.url, refundPath(orderId), {}, newKey())
  expect(answer).toMatchObject({
    status: 409,
    body: { code: 'not_refundable', charged: 'yes', state: 'FULFILLED', retryable: false },
  })
  expect(answer.body.refund_rule.length).toBeGreaterThan(20)
  expect(answer.body.detail).toContain(answer.body.refund_rule)
  const claims = 'select key from refund_claims where order_id = $1'
  expect(await patient.query(claims, [orderId])).toEqual([])
  const none = await post(patient.url, refundPath(`ord_${'0'.repeat(26)}`), {}, newKey())
  expect(none).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
})

test('a refund that could not be paid is paid when it is claimed again, once', async () => {
  const { buyer, before, orderId } = await expired()
  const elsewhere = privateKeyToAddress(generatePrivateKey())
  await emptyWallet(store.parts, store.settings.refundKey, elsewhere)
  await supplierSays(store, orderId, 'FAILED')
  const stuck = await until(store, orderId, ({ refund_state }) => refund_state === 'REFUND_FAILED')
  expect(stuck.orders).toMatchObject([{ state: 'EXPIRED', agent_action: 'stop' }])
  expect(await refundOf(orderId)).toMatchObject({
    status: 200,
    body: {
      state: 'REFUND_FAILED',
      amount_atomic_refunded: '0',
      amount_atomic_kept: '650000',
      error: { code: 'no_float', message: expect.any(String) },
    },
  })
  expect(reported(store, orderId)).toContain('refund_failed')

  await mintUsdc(store.parts, store.refundWallet, 50_000_000n)
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim(orderId)))
  for (const { status } of claims) expect([200, 202]).toContain(status)
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await transfersBetween(store.parts, store.refundWallet, buyer.address)).toMatchObject([
    { value: 650_000n },
  ])
  expect(await buyer.balance()).toBe(before)
  expect((await lifeOf(store, orderId)).refunds.at(-1)).toBe('CONFIRMED')
})
