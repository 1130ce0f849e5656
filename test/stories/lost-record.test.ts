import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { type NodeBefore, startNodeBefore } from '../../src/adapters/chain/chain.fixture.ts'
import { providerOf } from '../doubles/rpc-provider.ts'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { callToken, settling } from './contracts/calls.ts'
import { expectDeliveredOnce, expectRefused, payForVoucher } from './contracts/outcomes.ts'
import { openDear } from './dear.ts'
import { bodyFor, eventually, termsOf } from './requests.ts'
import { openStore, type Store } from './store.ts'

// Payments that are on the chain and on no record, as after a failover that lost the newest writes.

let store: Store
let node: NodeBefore
let terms: Accepts
let buyer: Buyer

const { rpcUrl } = inject('parts')

beforeAll(async () => {
  node = await startNodeBefore(rpcUrl)
  store = await openStore({ rpcUrl: node.url, env: { TRUSTED_PROXIES: '1' } })
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})
afterAll(async () => {
  await store.close()
  await node.stop()
})
beforeEach(async () => {
  buyer = await newBuyer()
})
afterEach(() => node.tamper())

const soon = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds

/** Until the clock has passed this second. */
const passed = (second: number) => delay(Math.max(0, second * 1_000 - Date.now()) + 10)

/** A payment that has moved the money, and that the store has never seen. */
async function paidUnseen(validSeconds: number, accepts: Accepts = terms) {
  const validBefore = soon(validSeconds)
  const payment = await buyer.sign(accepts, { validBefore })
  expect(await callToken(store.parts, settling(payment))).toBe('success')
  return { ...payment, validBefore }
}

test('a paid request is found on the chain after its end, and delivered', async () => {
  const { header, validBefore } = await paidUnseen(5)
  await passed(validBefore)
  const answer = await payForVoucher(store, header)
  expect(answer.status).toBe(200)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  expect(await buyer.balance()).toBe(1_000_000_000n - 500_000n)
})

test('a paid request is never told to sign anew while the receipt is not shown', async () => {
  const { header } = await paidUnseen(300)
  node.tamper(providerOf(rpcUrl, { hidesReceipts: true }))
  const hidden = await payForVoucher(store, header)
  expect(hidden).toMatchObject({ status: 503, body: { code: 'try_again', charged: 'unknown' } })
  expect(hidden.headers.get('payment-required')).toBeNull()
  node.tamper()
  const answer = await payForVoucher(store, header)
  expect(answer.status).toBe(200)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test('a paid request whose price has moved since is not told to sign anew either', async () => {
  const { header, validBefore } = await paidUnseen(4, { ...terms, amount: '490000' })
  await passed(validBefore)
  const answer = await payForVoucher(store, header)
  expect(answer).toMatchObject({ status: 503, body: { code: 'try_again', charged: 'unknown' } })
})

test('an authorization that ran out unused is refused once the chain proves it', async () => {
  const validBefore = soon(2)
  const { header } = await buyer.sign(terms, { validBefore })
  await passed(validBefore)
  await eventually(
    async () => (await payForVoucher(store, header)).status,
    (status) => status === 402,
  )
  await expectRefused(store, buyer.address, header, 'expired')
})

test('a network that is too dear takes no payment, and says so', async () => {
  const dear = await openDear(store)
  const { header } = await buyer.sign(terms)
  const answer = await payForVoucher({ ...store, url: dear.url }, header)
  expect(answer).toMatchObject({
    status: 503,
    body: { code: 'too_costly', charged: 'unknown', retryable: true },
  })
  expect(answer.headers.get('retry-after')).toBe('60')
  await dear.close()
  expect((await payForVoucher(store, header)).status).toBe(200)
})
