import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { type NodeBefore, startNodeBefore } from '../../src/adapters/chain/chain.fixture.ts'
import { providerOf } from '../doubles/rpc-provider.ts'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { callToken, settling } from './contracts/calls.ts'
import { expectDeliveredOnce, payForVoucher } from './contracts/outcomes.ts'
import { openDear } from './dear.ts'
import { buyNothing } from './interferences.ts'
import { type Answer, bodyFor, post, purchasePath, termsOf } from './requests.ts'
import { openStore, type Store } from './store.ts'

// Payments that are on the chain and on no record, as after a failover that lost the newest writes.

let store: Store
let node: NodeBefore
let terms: Accepts
let buyer: Buyer

const { rpcUrl } = inject('parts')

beforeAll(async () => {
  node = await startNodeBefore(rpcUrl)
  store = await openStore({ rpcUrl: node.url })
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

/** A payment that has moved the money, and that the store has never seen. */
async function paidUnseen(validSeconds: number, accepts: Accepts = terms) {
  const validBefore = soon(validSeconds)
  const payment = await buyer.sign(accepts, { validBefore })
  expect(await callToken(store.parts, settling(payment))).toBe('success')
  return { ...payment, validBefore }
}

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

/** Somebody else's payment, as the chain shows it, with terms that fit and a signature that does not. */
async function stolen() {
  const { header } = await paidUnseen(300)
  const payment = JSON.parse(Buffer.from(header, 'base64').toString())
  payment.payload.signature = `0x${'11'.repeat(64)}1b`
  payment.payload.authorization.validBefore = String(soon(-365 * 86_400))
  return payment
}

const transports = {
  HTTP: (payment: object, address: string) =>
    post(store.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), {
      'x-forwarded-for': address,
      'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'),
    }),
  MCP: async (payment: object, address: string) => {
    const params = {
      ...{ name: 'buy', arguments: bodyFor('voucher', 'OK') },
      _meta: { 'x402/payment': payment },
    }
    const { body } = await post(
      store.url,
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { 'x-forwarded-for': address, accept: 'application/json, text/event-stream' },
    )
    const [, data = '{}'] = /^data: (.*)$/m.exec(body) ?? []
    return { body: JSON.parse(data).result.structuredContent }
  },
}

test.each(['HTTP', 'MCP'] as const)(
  'somebody else’s payment of long ago costs a few questions, leaves nothing and counts: %s',
  async (transport) => {
    const payment = await stolen()
    const address = `192.0.2.${transport.length}`
    const reserved = () => store.query('select payment_key from payment_reservations')
    const before = await reserved()
    node.calls.length = 0
    for (let time = 0; time < 20; time += 1) {
      const { body } = await transports[transport](payment, address)
      expect(body).toMatchObject({ code: 'try_again', charged: 'unknown' })
    }
    // Those of the probe, which comes by the clock.
    expect(node.calls.filter((call) => call === 'eth_getLogs').length).toBeLessThan(10)
    expect(node.calls.length).toBeLessThan(20 * 6 + 60)
    expect(await reserved()).toEqual(before)
    expect((await transports[transport](payment, address)).body).toMatchObject({
      code: 'rate_limited',
    })
  },
)

describe('a paid request that is refused before it was checked never hears that nothing was charged', () => {
  const wrong: Record<string, (header: string) => Promise<Answer>> = {
    'its price has moved': (header) => payForVoucher(store, header),
    'it holds for too long': (header) => payForVoucher(store, header),
    'its offer is gone': (header) => paidFor({ offerId: 'TEST-NOTHING-OK' }, header),
    'its body is wrong': (header) => paidFor({ colour: 'red' }, header),
    'its key is of no form': (header) => paidFor({}, header, { 'idempotency-key': 'short' }),
  }
  const paidFor = (changes: object, header: string, more = {}) =>
    post(
      store.url,
      purchasePath('voucher'),
      { ...bodyFor('voucher', 'OK'), ...changes },
      { 'payment-signature': header, ...more },
    )

  test.each(Object.keys(wrong))('%s', async (why) => {
    const accepts = why === 'its price has moved' ? { ...terms, amount: '490000' } : terms
    const { header } = await paidUnseen(why === 'it holds for too long' ? 900 : 300, accepts)
    const answer = await wrong[why]?.(header)
    expect(answer?.body).toMatchObject({ charged: 'unknown' })
    expect(answer?.headers.get('payment-required')).toBeNull()
  })

  test('but that it was, where its wallet lets itself buy less since', async () => {
    const { header } = await paidUnseen(300)
    await buyNothing(store, buyer)
    expect(await payForVoucher(store, header)).toMatchObject({
      status: 403,
      body: { code: 'limit_exceeded', charged: 'yes' },
    })
  })
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
