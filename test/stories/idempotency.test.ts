import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf } from './chain.ts'
import { bookedFor, ledgerOf } from './facts.ts'
import {
  type Answer,
  bodyFor,
  buy,
  get,
  type Kind,
  post,
  purchasePath,
  termsOf,
} from './requests.ts'
import { useStore } from './store.ts'

const store = useStore()
let buyer: Buyer

const voucher = bodyFor('voucher', 'OK')
const newKey = () => ({ 'idempotency-key': `key-${randomBytes(12).toString('hex')}` })

/** What a repeated request must leave as it is. */
async function everything() {
  return {
    balance: await buyer.balance(),
    earned: await balanceOf(store.parts, store.payTo),
    bought: (await ledgerOf(store)).length,
    orders: (await store.query('select id from orders')).length,
  }
}

function expectReplayed(answer: Answer, first: Answer): void {
  expect(answer.status).toBe(first.status)
  expect(answer.headers.get('idempotent-replayed')).toBe('true')
  expect(answer.body).not.toHaveProperty('accessToken')
  expect(answer.body.orderId).toBe(first.body.orderId)
  expect(answer.body.orders).toEqual(first.body.orders)
  expect(answer.headers.get('payment-response')).toBe(first.headers.get('payment-response'))
}

function expectConflict(answer: Answer, body: { code: string; charged: string }): void {
  expect(answer).toMatchObject({ status: 409, body: { ...body, retryable: false } })
  expect(answer.headers.get('payment-required')).toBeNull()
  expect(JSON.stringify(answer.body)).not.toMatch(/SBX-/)
}

function respelt({ msisdn }: Record<string, unknown>) {
  return msisdn === undefined ? {} : { msisdn: String(msisdn).replace('+1202', '+1 (202) ') }
}

beforeAll(async () => {
  buyer = await newBuyer()
})

test.each<[Kind, Record<string, unknown>]>([
  ['voucher', { offerId: 'test-voucher-ok', firstName: ' Ada ', maxUsdc: 1 }],
  ['topup', { offerId: 'Test-Topup-Ok' }],
  ['esim', { offerId: ' TEST-esim-OK ', iccid: '' }],
])(
  'the same %s with its key, in another spelling or newly paid, is given again',
  async (kind, spelling) => {
    const headers = newKey()
    const wanted = bodyFor(kind, 'OK')
    const first = await buy(store, buyer, kind, wanted, { headers })
    const before = await everything()
    expectReplayed(await first.send(), first.answer)
    const body = { ...wanted, ...respelt(wanted), ...spelling }
    expectReplayed(await first.send({}, body), first.answer)
    const fresh = await buyer.sign(first.accepts)
    const paidAgain = { 'payment-signature': fresh.header, ...headers }
    expectReplayed(await post(store.url, purchasePath(kind), body, paidAgain), first.answer)
    expect(await everything()).toEqual(before)
  },
)

test('the same payment for another body or other goods, and the same key for another body, are 409', async () => {
  const headers = newKey()
  const first = await buy(store, buyer, 'voucher', voucher, { headers })
  const before = await everything()
  const reused = { code: 'payment_reused', charged: 'yes' }
  expectConflict(await first.send({}, { ...voucher, lastName: 'Byron' }), reused)
  const paid = { 'payment-signature': first.payment.header, ...headers }
  const esim = bodyFor('esim', 'OK')
  expectConflict(await post(store.url, purchasePath('esim'), esim, paid), reused)
  const { orderId, transactionHash } = first.answer.body
  const copied = await first.send({ 'idempotency-key': newKey()['idempotency-key'] }, esim)
  expectConflict(copied, reused)
  expect(copied.body.order).toMatchObject({ transactionHash, state: 'FULFILLED' })
  expect(copied.body.detail).toContain('proof that it is yours')
  expect(copied.text).not.toContain(orderId)
  const fresh = { 'payment-signature': (await buyer.sign(first.accepts)).header, ...headers }
  const other = { ...voucher, firstName: 'Charles' }
  expectConflict(await post(store.url, purchasePath('voucher'), other, fresh), {
    code: 'idempotency_conflict',
    charged: 'no',
  })
  expect(await everything()).toEqual(before)
})

test('a key alone finds its order and goods, and makes a request without a payment get them', async () => {
  const headers = newKey()
  const { answer } = await buy(store, buyer, 'voucher', voucher, { headers })
  const before = await everything()
  const path = purchasePath('voucher')
  expectReplayed(await post(store.url, path, voucher, headers), answer)
  const other = await post(store.url, path, { ...voucher, lastName: 'Byron' }, headers)
  expectConflict(other, { code: 'idempotency_conflict', charged: 'no' })
  const found = await get(store.url, '/api/catalog/orders', headers)
  const { orderId, orders } = answer.body
  expect(found).toMatchObject({ status: 200, body: { orderId, orders } })
  const unknown = await get(store.url, '/api/catalog/orders', newKey())
  expect(unknown).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
  for (const key of ['x', 'x'.repeat(10_000)]) {
    const refused = await get(store.url, '/api/catalog/orders', { 'idempotency-key': key })
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_header' } })
    expect(refused.body.detail).toContain('16 to 128 characters')
  }
  expect(await everything()).toEqual(before)
})

test('the same without a key is asked about before any money; a key of its own is another purchase', async () => {
  const payer = await newBuyer()
  const bought = await buy(store, payer, 'voucher', voucher)
  const { orderId } = bought.answer.body
  const before = await payer.balance()
  const paid = { 'payment-signature': (await payer.sign(bought.accepts)).header }
  expectConflict(await post(store.url, purchasePath('voucher'), voucher, paid), {
    code: 'possible_duplicate',
    charged: 'no',
  })
  expect(await payer.balance()).toBe(before)
  const another = await post(store.url, purchasePath('voucher'), voucher, { ...paid, ...newKey() })
  expect(another.body.orderId).not.toBe(orderId)
  expect(await payer.balance()).toBe(before - 500_000n)
})

test('a phone that was topped up a moment ago is asked about before any money, whoever pays and with a key', async () => {
  const body = bodyFor('topup', 'OK')
  const { accepts } = await buy(store, buyer, 'topup', body)
  const payer = await newBuyer()
  const paid = { 'payment-signature': (await payer.sign(accepts)).header, ...newKey() }
  const before = await payer.balance()
  const spelt = { ...body, ...respelt(body) }
  const refused = await post(store.url, purchasePath('topup'), spelt, paid)
  expectConflict(refused, { code: 'possible_duplicate', charged: 'no' })
  expect(refused.body).not.toHaveProperty('orderId')
  expect(await payer.balance()).toBe(before)
  const insisting = { ...spelt, confirmAnother: true }
  const { body: bought } = await post(store.url, purchasePath('topup'), insisting, paid)
  expect(bought.orderId).toMatch(/^ord_/)
  expect(await payer.balance()).toBe(before - 500_000n)
})

test.each([
  ['one payment', 16, 1],
  ['a payment each', 6, 6],
])(
  'equal requests at once with one key and %s make one order and one charge',
  async (_, count, payments) => {
    const before = await everything()
    const accepts = await termsOf(store.url, 'voucher', voucher)
    const headers = newKey()
    const signed = await Promise.all(Array.from({ length: payments }, () => buyer.sign(accepts)))
    const answers = await Promise.all(
      Array.from({ length: count }, (__, at) => {
        const sent = { 'payment-signature': signed[at % payments]?.header ?? '', ...headers }
        return post(store.url, purchasePath('voucher'), voucher, sent)
      }),
    )
    // One order, its goods in every answer, the token in one, one price paid, one purchase made.
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map(({ body }) => body.orders[0].result.code)).size).toBe(1)
    expect(answers.filter(({ body }) => body.accessToken)).toHaveLength(1)
    const [answer] = answers
    expect(await bookedFor(store, answer?.body.orderId)).toMatchObject([{ deliveries: 1 }])
    expect(await everything()).toEqual({
      balance: before.balance - 500_000n,
      earned: before.earned + 500_000n,
      bought: before.bought + 1,
      orders: before.orders + 1,
    })
  },
)
