import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf, transfersBetween } from './chain.ts'
import { bookedFor, ledgerOf } from './facts.ts'
import { bodyFor, buyDelivered, get, post, purchasePath, termsOf, until } from './requests.ts'
import { openSibling, useStore } from './store.ts'

const store = useStore()
let sibling: Awaited<ReturnType<typeof openSibling>>

beforeAll(async () => {
  sibling = await openSibling(store)
})
afterAll(async () => {
  await sibling.close()
})

async function expectBoughtOnce(buyer: Buyer, orderId: string, paid: bigint): Promise<void> {
  expect(await transfersBetween(store.parts, buyer.address, store.payTo)).toMatchObject([
    { value: paid },
  ])
  expect(await bookedFor(store, orderId)).toMatchObject([{ status: 'DONE', deliveries: 1 }])
}

test('an order of one node is read, opened and repeated at the other', async () => {
  const buyer = await newBuyer()
  const headers = { 'idempotency-key': 'the-same-at-both-nodes' }
  const { answer, order, payment } = await buyDelivered(store, buyer, 'voucher', { headers })
  const path = `/api/catalog/orders/${answer.body.orderId}`
  expect((await get(sibling.url, path)).body.orders).toMatchObject([
    { state: 'FULFILLED', result: null },
  ])
  const opened = await get(sibling.url, path, {
    authorization: `Bearer ${answer.body.accessToken}`,
  })
  expect(opened.body.orders).toEqual(order.orders)
  const before = await balanceOf(store.parts, store.payTo)
  const again = await post(sibling.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), {
    'payment-signature': payment.header,
    ...headers,
  })
  expect(again).toMatchObject({ status: 200, body: { orders: order.orders } })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await balanceOf(store.parts, store.payTo)).toBe(before)
})

test('equal requests at both nodes at once make one order and one charge', async () => {
  const buyer = await newBuyer()
  const body = bodyFor('esim', 'OK')
  const { header } = await buyer.sign(await termsOf(store.url, 'esim', body))
  const headers = { 'payment-signature': header, 'idempotency-key': 'at-both-nodes-at-once' }
  const bought = (await ledgerOf(store)).length
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      post((index % 2 ? store : sibling).url, purchasePath('esim'), body, headers),
    ),
  )
  const ids = new Set(answers.map(({ body: answer }) => answer.orderId))
  expect(ids.size).toBe(1)
  const [orderId] = ids
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  await expectBoughtOnce(buyer, orderId, 500_000n)
  expect((await ledgerOf(store)).length).toBe(bought + 1)
  expect(answers.filter(({ body: answer }) => answer.accessToken)).toHaveLength(1)
})
