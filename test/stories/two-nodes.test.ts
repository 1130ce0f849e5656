import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf, transfersBetween } from './chain.ts'
import { type ChildNode, endLease, startChild } from './child-node.ts'
import { bookedFor, ledgerOf, lifeOf } from './facts.ts'
import {
  bodyFor,
  buy,
  buyDelivered,
  eventually,
  get,
  type Kind,
  post,
  purchasePath,
  supplierSays,
  termsOf,
  until,
} from './requests.ts'
import { openSibling, useStore } from './store.ts'

const store = useStore({
  stepMs: 20,
  env: {
    PURCHASE_WAIT_SECONDS: '1',
    REFUND_GRACE_SECONDS: '1',
  },
})
let sibling: Awaited<ReturnType<typeof openSibling>>
const children: ChildNode[] = []

beforeAll(async () => {
  sibling = await openSibling(store)
})
afterAll(async () => {
  for (const child of children) await child.kill()
  await sibling.close()
})

function orderOf(buyer: Buyer, state: string): Promise<string> {
  const payer = buyer.address.toLowerCase()
  return eventually(
    () => store.query('select id from orders where payer = $1 and state = $2', [payer, state]),
    (rows) => rows.length === 1,
  ).then(([row]) => row.id)
}

/** Buys at a node that is killed before it can answer. */
async function buyInVain(child: { url: string }, buyer: Buyer, kind: Kind, outcome: string) {
  const body = bodyFor(kind, outcome)
  const { header } = await buyer.sign(await termsOf(child.url, kind, body))
  const headers = { 'payment-signature': header, 'idempotency-key': 'the-answer-never-arrived' }
  const sent = post(child.url, purchasePath(kind), body, headers)
  const answer = sent.then(
    ({ status }) => `answered ${status}`,
    () => 'lost',
  )
  const retry = () => post(store.url, purchasePath(kind), body, headers)
  return { answer, retry }
}

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

test.concurrent('what a killed node began, another one delivers, once', async () => {
  const child = await startChild(store)
  children.push(child)
  const buyer = await newBuyer()
  const { answer: answered, retry } = await buyInVain(child, buyer, 'voucher', 'HANG')
  const orderId = await orderOf(buyer, 'FULFILLING')
  await eventually(
    () => bookedFor(store, orderId),
    (booked) => booked.length === 1,
  )
  await child.kill()
  // A busy machine may reach the end of the wait for goods before the kill.
  expect(['lost', 'answered 202']).toContain(await answered)
  await endLease(store, orderId)
  await supplierSays(store, orderId, 'DONE')
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  const answer = await retry()
  expect(answer).toMatchObject({ status: 200, body: { orderId } })
  expect(answer.body.orders[0].result.code).toMatch(/^SBX-/)
  await expectBoughtOnce(buyer, orderId, 650_000n)
})

test.concurrent('what a killed node could not deliver, another one pays back, once', async () => {
  const child = await startChild(store, { env: { FULFILLMENT_DEADLINE_SECONDS: '2' } })
  children.push(child)
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer } = await buy(child, buyer, 'esim', bodyFor('esim', 'HANG'))
  const { orderId } = answer.body
  await child.kill()
  // It answers its buyer while it still looks for the goods, so it may die with the lease in its hands.
  await endLease(store, orderId)
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await buyer.balance()).toBe(before)
  expect(await transfersBetween(store.parts, store.refundWallet, buyer.address)).toHaveLength(1)
  expect((await lifeOf(store, orderId)).states.at(-1)).toBe('EXPIRED')
})

test('a node that is killed between money and supplier leaves a paid order that is delivered', async () => {
  const child = await startChild(store)
  children.push(child)
  const buyer = await newBuyer()
  await store.query(`create function wait_for_story() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(402); return new; end $$`)
  await store.query(`create trigger a_story before update on orders for each row
    when (old.state = 'PAID' and new.state = 'FULFILLING') execute function wait_for_story()`)
  const holder = new pg.Client(store.databaseUrl)
  await holder.connect()
  await holder.query('select pg_advisory_lock(402)')
  const { answer: answered, retry } = await buyInVain(child, buyer, 'topup', 'OK')
  const orderId = await orderOf(buyer, 'PAID')
  await child.kill()
  // A busy machine may reach the end of the wait for goods before the kill.
  expect(['lost', 'answered 202']).toContain(await answered)
  expect(await bookedFor(store, orderId)).toEqual([])
  await holder.end()
  // The dead node's last statement is still carried out: its intention is on record.
  await orderOf(buyer, 'FULFILLING')
  await store.query('drop trigger a_story on orders')
  await endLease(store, orderId)
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect((await retry()).body.orders[0].result.msisdn).toBe('+12025550123')
  await expectBoughtOnce(buyer, orderId, 500_000n)
})
