import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { emptyWallet, mintUsdc, transfersBetween } from './chain.ts'
import { lifeOf, reported } from './facts.ts'
import { bodyFor, buy, get, post, supplierSays, until } from './requests.ts'
import { useStore } from './store.ts'

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
