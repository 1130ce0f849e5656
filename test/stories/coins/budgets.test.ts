import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../requests.ts'
import { openStore, type Store } from '../store.ts'
import { choose, rowOf, sendChoice } from './person.ts'

let store: Store

beforeAll(async () => {
  const env = { FAILED_ORDERS_PER_HOUR: '1' }
  store = await openStore({ coins: {}, env })
})
afterAll(() => store.close())

test('orders in coins that are paid back have budgets, as those in USDC', async () => {
  const from = '203.0.113.9'
  const declined = { kind: 'topup', outcome: 'DECLINED' } as const
  const paying = await choose(store, 'LTC', { ...declined, from })
  expect(Object.keys((await rowOf(store, paying.id)).doc.subjects)).toEqual(['client', 'receiver'])
  await store.btcpay(`/invoices/${paying.invoice}/pay`)
  await until(store, paying.orderId, ({ refund_state: state }) => state === 'REFUNDED')
  expect((await rowOf(store, paying.id)).doc).not.toHaveProperty('subjects')

  // The same number, for another visitor, address and denomination.
  const { answer } = await sendChoice(store, 'BTC', { kind: 'topup', outcome: 'OK' })
  expect(answer.status).toBe(429)
  expect(await answer.text()).toContain('failed in the last hour. Try again in')
  const vouchers = { outcome: 'DECLINED', from }
  for (let order = 1; order < 4; order += 1) {
    const { orderId, invoice } = await choose(store, 'LTC', vouchers)
    await store.btcpay(`/invoices/${invoice}/pay`)
    await until(store, orderId, ({ refund_state: state }) => state === 'REFUNDED')
  }
  expect((await sendChoice(store, 'BTC', vouchers)).answer.status).toBe(429)
  await choose(store, 'BTC')
})
