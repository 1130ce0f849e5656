import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { buyWith, openClient } from './mcp/client.ts'
import { bodyFor, buy, get, type Kind, post, purchasePath, termsOf } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const path = purchasePath('voucher')
const ada = { firstName: 'Ada', lastName: 'Lovelace' }
const open = { offerId: 'TEST-VOUCHER-OPEN', ...ada }
const above = {
  code: 'price_above_maximum',
  parameter: 'maxUsdc',
  price: { usdc: '0.50', atomic: '500000' },
  charged: 'no',
}

describe('money that a model cannot misread', () => {
  test('an open value has its range in its own unit, and an example', async () => {
    const { body } = await get(store.url, '/api/catalog/vouchers/offers/TEST-VOUCHER-OPEN')
    const { minimum, maximum } = body.purchase.bodySchema.properties.value
    expect(body.value).toMatchObject({ unit: 'USD', min: minimum, max: maximum })
    expect(body.value.min * 100).toBe(body.price.min)
    const bought = await post(store.url, path, body.purchase.example)
    expect(bought.status).toBe(402)
    const fixed = await get(store.url, '/api/catalog/vouchers/offers/TEST-VOUCHER-OK')
    expect(fixed.body).not.toHaveProperty('value')
  })

  test.each<[string, Kind, object, RegExp]>([
    [
      'the value and what it gives',
      'voucher',
      { ...open, value: 0.5 },
      /value 0\.5 = a 0\.50 USD .* card \(US\) for 0\.50 USDC/,
    ],
    [
      'the number',
      'topup',
      bodyFor('topup', 'OK'),
      /topup .*for the number \+12025550123 for 0\.50 USDC/,
    ],
    ['that an eSIM is new', 'esim', bodyFor('esim', 'OK'), /a new .*eSIM plan.* for 0\.50 USDC/],
  ])('a quote and a demand say %s', (_, kind, body, sentence) => bothSay(kind, body, sentence))

  test('a quote and a demand say that it is a recharge', async () => {
    const { answer } = await buy(store, buyer, 'esim', bodyFor('esim', 'OK'))
    const { iccid } = answer.body.orders[0].result
    const sentence = new RegExp(`a recharge of the eSIM ${iccid}: .* for 0\\.50 USDC`)
    await bothSay('esim', { ...bodyFor('esim', 'OK'), iccid }, sentence)
  })
})

async function bothSay(kind: Kind, body: object, sentence: RegExp) {
  const asked = await post(store.url, purchasePath(kind), body)
  expect(asked.body.message).toMatch(sentence)
  const fields = Object.entries(body).map(([name, value]): [string, string] => [name, `${value}`])
  const quoted = await get(store.url, `${purchasePath(kind)}?${new URLSearchParams(fields)}`)
  expect(quoted.body.message).toMatch(sentence)
}

describe('a maximum', () => {
  test('that is exceeded is refused before anything is asked for', async () => {
    const body = { ...bodyFor('voucher', 'OK'), maxUsdc: 0.49 }
    const asked = await post(store.url, path, body)
    expect(asked).toMatchObject({ status: 409, body: above })
    expect(asked.headers.get('payment-required')).toBeNull()
    const query = 'offerId=TEST-VOUCHER-OK&firstName=Ada&lastName=L&maxUsdc=0.49'
    expect(await get(store.url, `${path}?${query}`)).toMatchObject({ status: 409, body: above })
  })

  test('holds for a payment that was signed without it', async () => {
    const before = await buyer.balance()
    const body = bodyFor('voucher', 'OK')
    const { header } = await buyer.sign(await termsOf(store.url, 'voucher', body))
    const paid = { 'payment-signature': header }
    const refused = await post(store.url, path, { ...body, maxUsdc: 0.49 }, paid)
    expect(refused).toMatchObject({ status: 409, body: above })
    expect(await buyer.balance()).toBe(before)
  })

  test('is no part of what is bought: a repeat finds its order without it', async () => {
    const body = { ...bodyFor('voucher', 'OK'), maxUsdc: 0.5 }
    const headers = { 'idempotency-key': `maximum-${randomUUID()}` }
    const { send, answer } = await buy(store, buyer, 'voucher', body, { headers })
    expect(answer).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
    const { status, body: again } = await send({}, bodyFor('voucher', 'OK'))
    expect([status, again.orderId]).toEqual([200, answer.body.orderId])
    const lower = await send({}, { ...body, maxUsdc: 0.1 })
    expect([lower.status, lower.body.orderId]).toEqual([200, answer.body.orderId])
  })

  test.each(['', 'much', -1, [1], {}, 0.0000001])('cannot be %j', async (maxUsdc) => {
    const answer = await post(store.url, path, { ...bodyFor('voucher', 'OK'), maxUsdc })
    expect(answer).toMatchObject({ status: 422, body: { parameter: 'maxUsdc' } })
  })

  test('is max_usdc for a model, and what is within it is bought', async () => {
    const { call, close } = await openClient(store, 'SDK 1.x')
    const args = { ...bodyFor('voucher', 'OK'), max_usdc: 0.49 }
    for (const tool of ['quote', 'buy']) {
      const { isError, data, texts } = await call(tool, args)
      expect([isError, data.code]).toEqual([true, 'price_above_maximum'])
      expect(texts[0]).toContain('The price is 0.50 USDC')
    }
    const { asked, bought } = await buyWith(call, buyer, { ...args, max_usdc: '0.5' })
    expect(asked.texts[0]).toMatch(/^\{"message":"Payment required: a .* for 0\.50 USDC\. Sign /)
    expect(bought.data.orders[0].state).toBe('FULFILLED')
    await close()
  })
})
