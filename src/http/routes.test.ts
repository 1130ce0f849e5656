import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import type { BuyingDeps } from '../api/operation.ts'
import type { OrderStore } from '../orders/ports.ts'
import { routeOperations } from './routes.ts'

const id = `ord_${'0'.repeat(26)}`
const down = async () => {
  throw new Error('connect ECONNREFUSED 127.0.0.1:5432')
}

function storeWithoutDatabase() {
  const { app, logged, deps: shared } = testApp()
  const orders = { find: down, findByTransaction: down } as Partial<OrderStore>
  const deps = { orders, signIn: {} } as BuyingDeps
  routeOperations(app, deps, shared.limits)
  return { app, logged }
}

describe('while the orders cannot be read', () => {
  test.each([
    [`/api/catalog/orders/${id}`, undefined],
    [`/api/catalog/orders?transactionHash=0x${'1'.repeat(64)}`, undefined],
    [`/api/catalog/orders/${id}/refund`, 'unknown'],
  ])('GET %s says that it will do later', async (url, charged) => {
    const { app, logged } = storeWithoutDatabase()
    const answer = await app.inject({ url })
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('5')
    expect(answer.json()).toMatchObject({ code: 'try_again', retryable: true })
    expect(answer.json().charged).toBe(charged)
    expect(answer.body).not.toContain('ECONNREFUSED')
    expect(logged.join()).toContain('ECONNREFUSED')
  })

  test('a refund claim is told to come again, not that nothing was charged', async () => {
    const { app } = storeWithoutDatabase()
    const answer = await app.inject({
      method: 'POST',
      url: `/api/catalog/orders/${id}/refund`,
      headers: { 'idempotency-key': 'a-claim-that-comes-again' },
      payload: {},
    })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({ code: 'try_again', charged: 'unknown' })
  })

  test('what is asked wrongly is still refused for what it is', async () => {
    const { app } = storeWithoutDatabase()
    const answer = await app.inject({ url: '/api/catalog/orders/no-order-id' })
    expect(answer.statusCode).toBe(404)
  })
})
