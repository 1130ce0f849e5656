import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { expectSold } from './contracts/outcomes.ts'
import { ledgerOf, lifeOf, rowsKept } from './facts.ts'
import { type Answer, bodyFor, buy, eventually, get, post, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

const voucher = bodyFor('voucher', 'OK')
const straight = ['PAYMENT_PENDING', 'PAID', 'FULFILLING', 'FULFILLED']

let store: Store
let rpc: StoryProxy
let buyer: Buyer

beforeAll(async () => {
  rpc = await startProxy(inject('parts').rpcUrl)
  store = await openStore({
    rpcUrl: rpc.url,
    env: { PURCHASE_WAIT_SECONDS: '1' },
  })
})
afterAll(async () => {
  await store.close()
  await rpc.close()
})
beforeEach(async () => {
  buyer = await newBuyer()
})
afterEach(() => rpc.breakCalls())

/** Nobody knows whether the buyer paid, so nobody asks to be paid again. */
function expectPending(answer: Answer): void {
  expect(answer.status).toBe(202)
  expect(answer.headers.get('payment-required')).toBeNull()
  expect(answer.headers.get('payment-response')).toBeNull()
  expect(answer.headers.get('retry-after')).toBe('5')
  expect(answer.headers.get('location')).toBe(`/api/catalog/orders/${answer.body.orderId}`)
  expect(answer.body).toMatchObject({
    transactionHash: null,
    refund_state: null,
    orders: [{ state: 'PAYMENT_PENDING', agent_action: 'wait', result: null, error: null }],
  })
}

async function expectPaidOnce(transactionHash: string): Promise<void> {
  expect(await transfersBetween(store.parts, buyer.address, store.payTo)).toEqual([
    { transactionHash, value: 500_000n },
  ])
}

test('a settlement whose answer is lost is found in the logs, and never paid twice', async () => {
  rpc.breakCalls((call) => {
    if (call === 'eth_sendRawTransaction') return 'lose_answer'
    return call === 'eth_getLogs' ? 'swallow' : 'none'
  })
  const { answer, send } = await buy(store, buyer, 'voucher', voucher)
  expectPending(answer)
  await eventually(
    () => transfersBetween(store.parts, buyer.address, store.payTo),
    ({ length }) => length === 1,
  )
  const token = { authorization: `Bearer ${answer.body.accessToken}` }
  const [again, stranger] = await Promise.all([send(token), send()])
  expectPending(again)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body.orderId).toBe(answer.body.orderId)
  expect(stranger).toMatchObject({ status: 202, body: { state: 'PAYMENT_PENDING' } })
  expect(stranger.headers.get('location')).toBeNull()
  expect(stranger.headers.get('retry-after')).toBe('5')
  const refund = await post(
    store.url,
    `/api/catalog/orders/${answer.body.orderId}/refund`,
    {},
    { 'idempotency-key': 'too-early-for-a-refund' },
  )
  expect(refund).toMatchObject({
    status: 409,
    body: { code: 'not_refundable', charged: 'unknown', state: 'PAYMENT_PENDING' },
  })
  const receipt = await get(store.url, `/api/catalog/orders/${answer.body.orderId}/receipt`)
  expect(receipt).toMatchObject({ status: 409, body: { code: 'no_receipt', charged: 'unknown' } })

  rpc.breakCalls()
  const order = await until(
    store,
    answer.body.orderId,
    ({ orders: [{ state }] }) => state === 'FULFILLED',
    token,
  )
  expect(order.orders[0].result.code).toMatch(/^SBX-/)
  await expectPaidOnce(order.transactionHash)
  expect((await lifeOf(store, answer.body.orderId)).states).toEqual(straight)
  const paid = await send(token)
  expect(paid.status).toBe(200)
  expect(paid.headers.get('payment-response')).not.toBeNull()
})

test('a payment that cannot be checked is neither taken nor asked for again', async () => {
  const before = { rows: await rowsKept(store), bought: await ledgerOf(store) }
  rpc.breakCalls((call) => (call === 'eth_estimateGas' ? 'swallow' : 'none'))
  const { answer, send } = await buy(store, buyer, 'voucher', voucher)
  expect(answer).toMatchObject({
    status: 503,
    body: { code: 'try_again', charged: 'unknown', retryable: true },
  })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(answer.headers.get('payment-required')).toBeNull()
  expect({ rows: await rowsKept(store), bought: await ledgerOf(store) }).toEqual(before)

  rpc.breakCalls()
  const sent = await send()
  expectSold(sent)
  await until(store, sent.body.orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
})
