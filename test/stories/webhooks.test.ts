import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { bookedFor, rowsKept } from './facts.ts'
import { bodyFor, buy, get, type Kind, post, supplierSays, until } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({
  webhooks: false,
  env: { PURCHASE_WAIT_SECONDS: '1' },
})

const path = '/webhooks/supplier'
const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

function sent(value = store.webhook.value): Record<string, string> {
  return { [store.webhook.header]: value }
}

/** An order that the supplier holds. */
async function begun() {
  const { answer } = await buy(store, await newBuyer(), 'voucher', bodyFor('voucher', 'HANG'))
  const { orderId, accessToken } = answer.body
  expect(answer.body.orders[0].state).toBe('FULFILLING')
  const [order] = await store.query('select version, state from orders where id = $1', [orderId])
  const bearer = { authorization: `Bearer ${accessToken}` }
  return { orderId, reference: orderId.replace('_', ''), order, bearer }
}

test.concurrent.each(kinds)('without webhooks, polling alone delivers a %s', async (kind) => {
  const buyer = await newBuyer()
  const { answer } = await buy(store, buyer, kind, bodyFor(kind, 'OK'))
  const { orderId } = answer.body
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect(await bookedFor(store, orderId)).toMatchObject([{ deliveries: 1 }])
})

test.concurrent('a webhook without the right header is refused and changes nothing', async () => {
  const { orderId, reference, order } = await begun()
  const forged = { transactionId: reference, status: 'DONE', receipt: { epin: 'SBX-FORGED' } }
  const headers = [
    {},
    sent('wrong'),
    sent(''),
    sent(store.webhook.value.toUpperCase()),
    { authorization: store.webhook.value },
  ]
  for (const header of headers) {
    expect((await post(store.url, path, forged, header)).status).toBe(401)
  }
  expect(await store.query('select version, state from orders where id = $1', [orderId])).toEqual([
    order,
  ])
})

test.concurrent('what a webhook says is a hint: the goods are those of the supplier', async () => {
  const { orderId, reference, bearer } = await begun()
  const lie = { transactionId: reference, status: 'DONE', receipt: { epin: 'SBX-FORGED' } }
  expect((await post(store.url, path, lie, sent())).status).toBe(204)
  const fail = { transactionId: reference, status: 'FAILED', error: { code: 'LIE' } }
  expect((await post(store.url, path, fail, sent())).status).toBe(204)
  const { body } = await get(store.url, `/api/catalog/orders/${orderId}`, bearer)
  expect(body.orders).toMatchObject([{ state: 'FULFILLING', result: null }])
  await supplierSays(store, orderId, 'DONE')
  const order = await until(
    store,
    orderId,
    ({ orders: [{ state }] }) => state === 'FULFILLED',
    bearer,
  )
  const [booked] = await bookedFor(store, orderId)
  expect(booked?.secrets).toEqual([order.orders[0].result.code])
  expect(JSON.stringify(order)).not.toContain('FORGED')
})

test('a webhook for a reference that is none of ours is taken and does nothing', async () => {
  const { orders, payments } = await rowsKept(store)
  for (const transactionId of ['ord00000000000000000000000000', 'orderOfSomebodyElse']) {
    const hint = { transactionId, status: 'DONE' }
    expect((await post(store.url, path, hint, sent())).status).toBe(204)
  }
  expect(await rowsKept(store)).toMatchObject({ orders, payments })
  expect((await fetch(`${store.url}${path}`, { method: 'HEAD' })).status).toBe(204)
})
