import { afterAll, beforeAll, expect, test } from 'vitest'
import { supplierTimeoutMs } from '../../src/suppliers/supplier.ts'
import { startProxy } from '../harness/proxy.ts'
import { newBuyer } from './buyer.ts'
import { reported } from './facts.ts'
import { bodyFor, buy, type Kind, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

let store: Store
let supplier: Awaited<ReturnType<typeof startProxy>>

beforeAll(async () => {
  store = await openStore({
    env: { PURCHASE_WAIT_SECONDS: '2' },
    supplierVia: async (url) => {
      supplier = await startProxy(url)
      return supplier.url
    },
  })
})
afterAll(async () => {
  await store.close()
  await supplier.close()
})

/** Buys an offer whose purchases the supplier treats in this manner, and waits for the order's end. */
async function bought(kind: Kind, outcome: string, manner: object) {
  const body = bodyFor(kind, outcome)
  await store.admin('/manners', { offerId: body['offerId'], ...manner })
  const asked = supplier.calls.length
  const { answer } = await buy(store, await newBuyer(), kind, body)
  const { orderId, accessToken } = answer.body
  const isOver = ({ orders }: { orders: { state: string }[] }) =>
    !['PAID', 'FULFILLING'].includes(orders[0]?.state ?? '')
  const bearer = { authorization: `Bearer ${accessToken}` }
  const { orders } = await until(store, orderId, isOver, bearer)
  const posts = supplier.calls.slice(asked).filter((call) => /POST .*purchases$/.test(call))
  return { orderId, order: orders[0], posts: posts.length }
}

test('what the supplier accepted is asked for once, however long look-ups do not show it', async () => {
  const { order, posts } = await bought('topup', 'OK', { hiddenMs: 4_000 })
  expect(order.state).toBe('FULFILLED')
  expect(posts).toBe(1)
})

test('a purchase that costs more than the list said is delivered, booked and reported', async () => {
  const { order, orderId } = await bought('esim', 'OK', { dearer: 20 })
  expect(order.state).toBe('FULFILLED')
  expect(reported(store, orderId)).toEqual(['charge_rose'])
  const [row] = await store.query(
    `select doc #>> '{charge,amount}' as charged, doc #>> '{item,charge,amount}' as listed
     from orders where id = $1`,
    [orderId],
  )
  expect(Number(row.charged) - Number(row.listed)).toBeGreaterThan(0)
})

test('Prefer: wait is kept to while the supplier hangs, and the order goes on', async () => {
  const hold = Promise.withResolvers<'none'>()
  supplier.breakCalls((call) => (/topups.purchases/.test(call) ? hold.promise : 'none'))
  const began = performance.now()
  const headers = { prefer: 'wait=1' }
  const { answer } = await buy(store, await newBuyer(), 'topup', bodyFor('topup', 'LOST'), {
    headers,
  })
  expect(answer).toMatchObject({ status: 202, body: { orders: [{ state: 'FULFILLING' }] } })
  // The supplier was not waited for: its call is given up later than that.
  expect(performance.now() - began).toBeLessThan(supplierTimeoutMs)
  supplier.breakCalls()
  hold.resolve('none')
  const isDelivered = ({ orders }: { orders: { state: string }[] }) =>
    orders[0]?.state === 'FULFILLED'
  await until(store, answer.body.orderId, isDelivered)
})
