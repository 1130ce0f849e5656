import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { rowsKept } from './facts.ts'
import { bodyFor, eventually, post, purchasePath, termsOf } from './requests.ts'
import { openSibling, openStore, type Store } from './store.ts'

let store: Store
let later: Awaited<ReturnType<typeof openSibling>>
let buyer: Buyer
/** What the first node promised before the prices changed. */
let promised: { readonly voucher: Accepts; readonly topup: Accepts; readonly otherVoucher: Accepts }

const voucher = bodyFor('voucher', 'OK')
const topup = bodyFor('topup', 'OK')

// A node that starts reads the catalog anew, so the second one has the new prices.
beforeAll(async () => {
  store = await openStore()
  buyer = await newBuyer()
  promised = {
    voucher: await termsOf(store.url, 'voucher', voucher),
    topup: await termsOf(store.url, 'topup', topup),
    otherVoucher: await termsOf(store.url, 'voucher', bodyFor('voucher', 'LOST')),
  }
  await store.admin('/offers', { offerId: 'TEST-VOUCHER-OK', price: 90 })
  await store.admin('/offers', { offerId: 'TEST-TOPUP-OK', price: 20 })
  later = await openSibling(store)
  await eventually(
    () => termsOf(later.url, 'voucher', voucher),
    ({ amount }) => amount === '900000',
  )
})
afterAll(async () => {
  await later.close()
  await store.close()
})

async function pay(kind: 'voucher' | 'topup', body: unknown, accepts: Accepts) {
  const { header } = await buyer.sign(accepts)
  return post(later.url, purchasePath(kind), body, { 'payment-signature': header })
}

test('a price that rose is honoured with our promise', async () => {
  const before = await buyer.balance()
  const answer = await pay('voucher', voucher, promised.voucher)
  expect(answer).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
  expect(await buyer.balance()).toBe(before - 500_000n)
})

test('a price that fell is what the buyer signed, neither more nor less', async () => {
  const before = await buyer.balance()
  const answer = await pay('topup', topup, promised.topup)
  expect(answer).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
  expect(await buyer.balance()).toBe(before - 500_000n)
  expect((await termsOf(later.url, 'topup', topup)).amount).toBe('200000')
})

test('without our promise the price of now is required', async () => {
  const { quote = '', ...extra } = promised.voucher.extra
  const [body = '', mac = ''] = quote.split('.')
  const inventedBody = Buffer.from(
    JSON.stringify(['TEST-VOUCHER-OK', null, '500000', Math.floor(Date.now() / 1_000) + 900]),
  ).toString('base64url')
  const signedForAnother = promised.otherVoucher.extra.quote
  const quotes = {
    'no promise': undefined,
    'an invented one': `${inventedBody}.${mac}`,
    'a changed mark': `${body}.${mac.split('').reverse().join('')}`,
    'one for another offer': signedForAnother,
    'no text': 7 as unknown as string,
    'very long text': 'x'.repeat(3_000),
  }
  const before = { balance: await buyer.balance(), rows: await rowsKept(store) }
  for (const [what, given] of Object.entries(quotes)) {
    const accepts = {
      ...promised.voucher,
      extra: given === undefined ? extra : { ...extra, quote: given },
    }
    const answer = await pay('voucher', voucher, accepts)
    expect(answer, what).toMatchObject({
      status: 402,
      body: { code: 'payment_mismatch', charged: 'no', accepts: [{ amount: '900000' }] },
    })
    expect(answer.body.error).toContain('900000')
  }
  expect({ balance: await buyer.balance(), rows: await rowsKept(store) }).toEqual(before)
})

test('a promise for one kind of goods does not buy another', async () => {
  const answer = await pay('topup', topup, promised.voucher)
  expect(answer).toMatchObject({ status: 402, body: { accepts: [{ amount: '200000' }] } })
})

test('the terms of now buy at the price of now', async () => {
  const accepts = await termsOf(later.url, 'voucher', voucher)
  const before = await buyer.balance()
  expect((await pay('voucher', voucher, accepts)).status).toBe(200)
  expect(await buyer.balance()).toBe(before - 900_000n)
})
