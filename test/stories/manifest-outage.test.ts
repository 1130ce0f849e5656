import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { type Call, callerFor, expectProblem, rowsOf } from './reading.ts'
import { bodyFor, buy, post, purchasePath, termsOf, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

let store: Store
let call: Call

beforeAll(async () => {
  store = await openStore({ env: { PURCHASE_WAIT_SECONDS: '1' } })
  call = callerFor(store)
})
afterAll(() => store.close())

/** Reads the signals again and again until they say one of these. */
async function untilSignals(...actions: readonly string[]) {
  const deadline = performance.now() + 170_000
  for (;;) {
    const { signals } = (await call('/api/catalog')).body
    if (actions.includes(signals.agent_action)) return signals
    if (performance.now() > deadline) throw new Error(`Still ${JSON.stringify(signals)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

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
  expect((await call('/ai/vouchers')).body.total).toBeGreaterThan(100)

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
