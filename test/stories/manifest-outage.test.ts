import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { callerFor, expectProblem, rowsOf } from './reading.ts'
import { bodyFor, buy, eventually, post, purchasePath, termsOf, until } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({ lookEveryMs: 500, env: { PURCHASE_WAIT_SECONDS: '1' } })
const call = callerFor(store)

const untilSignals = (...actions: readonly string[]) =>
  eventually(
    async () => (await call('/api/catalog')).body.signals,
    ({ agent_action }) => actions.includes(agent_action),
  )

test('a supplier that is away degrades the signals, then stops purchases; both end with it', async () => {
  const buyer = await newBuyer()
  const body = bodyFor('voucher', 'OK')
  const accepts = await termsOf(store.url, 'voucher', body)
  expect((await untilSignals('pay')).provider_health).toBe('healthy')

  await store.admin('/faults', { mode: 'down' })
  // Nobody knows yet, so this one is taken; what it meets is what the signals then tell.
  const { answer: taken } = await buy(store, buyer, 'voucher', body)
  expect([taken.status, taken.body.orders[0].state]).toEqual([202, 'FULFILLING'])
  expect((await untilSignals('retry_later', 'stop')).provider_health).not.toBe('healthy')
  expect((await untilSignals('stop')).provider_health).toBe('down')

  const [before, balance] = [await rowsOf(store), await buyer.balance()]
  const payment = await buyer.sign(accepts)
  for (const headers of [{}, { 'payment-signature': payment.header }]) {
    const refused = await call(purchasePath('voucher'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    expectProblem(refused, { status: 503, code: 'store_paused', charges: true })
    expect(refused.body).toMatchObject({ agent_action: 'stop', retryable: true })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  const { order_events: _, ...after } = await rowsOf(store)
  expect(before).toMatchObject(after)
  expect(await buyer.balance()).toBe(balance)
  expect((await call('/readyz')).status).toBe(503)
  expect((await call('/livez')).status).toBe(200)
  // The catalog that was read before is still there to look at.
  expect((await call('/ai/vouchers')).body.total).toBeGreaterThan(0)

  await store.admin('/faults', { mode: 'ok' })
  const order = await until(store, taken.body.orderId, ({ orders }) => {
    return orders[0].state === 'FULFILLED'
  })
  expect(order.refund_state).toBeNull()
  await untilSignals('pay', 'retry_later')
  const again = await post(store.url, purchasePath('voucher'), body, {
    'payment-signature': payment.header,
  })
  expect([200, 202]).toContain(again.status)
  expect(await buyer.balance()).toBe(balance - BigInt(accepts.amount))
})
