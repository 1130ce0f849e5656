import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf } from './chain.ts'
import { bookedFor, ledgerOf, rowsKept } from './facts.ts'
import { type Answer, bodyFor, buy, type Kind, post, purchasePath, termsOf } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore()
let buyer: Buyer

const voucher = bodyFor('voucher', 'OK')

function newKey(): Record<string, string> {
  return { 'idempotency-key': `key-${randomBytes(12).toString('hex')}` }
}

/** What a repeated request must leave as it is. */
async function everything() {
  return {
    balance: await buyer.balance(),
    earned: await balanceOf(store.parts, store.payTo),
    bought: (await ledgerOf(store)).length,
    rows: await rowsKept(store),
  }
}

function expectReplayed(answer: Answer, first: Answer): void {
  expect(answer.status).toBe(first.status)
  expect(answer.headers.get('idempotent-replayed')).toBe('true')
  expect(answer.body).not.toHaveProperty('accessToken')
  expect(answer.body.orderId).toBe(first.body.orderId)
  expect(answer.body.transactionHash).toBe(first.body.transactionHash)
  expect(answer.headers.get('payment-response')).toBe(first.headers.get('payment-response'))
}

/** The payment has bought something else already. */
function expectReused(answer: Answer): void {
  expectConflict(answer, { code: 'payment_reused', charged: 'yes' })
}

/** The key stands for another purchase, and the payment that came with it is not taken. */
function expectOtherUse(answer: Answer): void {
  expectConflict(answer, { code: 'idempotency_conflict', charged: 'no' })
}

function expectConflict(answer: Answer, body: { code: string; charged: string }): void {
  expect(answer).toMatchObject({ status: 409, body: { ...body, retryable: false } })
  expect(answer.headers.get('payment-required')).toBeNull()
  expect(JSON.stringify(answer.body)).not.toMatch(/SBX-/)
}

beforeAll(async () => {
  buyer = await newBuyer()
})

test('the same request with its key gives the same goods again', async () => {
  const first = await buy(store, buyer, 'voucher', voucher, { headers: newKey() })
  const before = await everything()
  const again = await first.send()
  expectReplayed(again, first.answer)
  expect(again.body.orders).toEqual(first.answer.body.orders)
  expect(await everything()).toEqual(before)
})

test('the order of the fields of a body makes no difference', async () => {
  const first = await buy(store, buyer, 'voucher', voucher, { headers: newKey() })
  const turned = Object.fromEntries(Object.entries(voucher).reverse())
  expectReplayed(await first.send({}, turned), first.answer)
})

test.each<[Kind, Record<string, unknown>]>([
  ['voucher', { offerId: 'test-voucher-ok', firstName: ' Ada ', maxUsdc: 1 }],
  ['topup', { offerId: 'Test-Topup-Ok', msisdn: '+1 (202) 555-0123' }],
  ['esim', { offerId: ' TEST-esim-OK ', iccid: '' }],
])('the same %s in another spelling is the same purchase', async (kind, spelling) => {
  const headers = newKey()
  const first = await buy(store, buyer, kind, bodyFor(kind, 'OK'), { headers })
  const before = await everything()
  const body = { ...bodyFor(kind, 'OK'), ...spelling }
  expectReplayed(await first.send({}, body), first.answer)
  const fresh = await buyer.sign(first.accepts)
  const paidAgain = { 'payment-signature': fresh.header, ...headers }
  expectReplayed(await post(store.url, purchasePath(kind), body, paidAgain), first.answer)
  expect(await everything()).toEqual(before)
})

test('the same payment without the key says where its order stands, and no more', async () => {
  for (const headers of [{}, newKey()]) {
    const first = await buy(store, buyer, 'voucher', voucher, { headers })
    const before = await everything()
    const { header } = first.payment
    const again = await post(store.url, purchasePath('voucher'), voucher, {
      'payment-signature': header,
    })
    const { transactionHash, orderId } = first.answer.body
    expect(again).toMatchObject({ status: 200, body: { transactionHash, state: 'FULFILLED' } })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('payment-response')).toBeNull()
    expect(again.body.message).toContain('accessToken')
    expect(JSON.stringify(again.body)).not.toContain(orderId)
    expect(await everything()).toEqual(before)
  }
})

test('the access token opens the goods of a repeated payment', async () => {
  const { answer, send } = await buy(store, buyer, 'voucher', voucher)
  const again = await send({ authorization: `Bearer ${answer.body.accessToken}` })
  expect(again.body.orders).toEqual(answer.body.orders)
})

test('the same payment for another body, or other goods, is 409', async () => {
  const headers = newKey()
  const first = await buy(store, buyer, 'voucher', voucher, { headers })
  const before = await everything()
  expectReused(await first.send({}, { ...voucher, lastName: 'Byron' }))
  expectReused(await first.send({}, bodyFor('voucher', 'LOST')))
  const { header } = first.payment
  for (const kind of ['topup', 'esim'] as const) {
    expectReused(
      await post(store.url, purchasePath(kind), bodyFor(kind, 'OK'), {
        'payment-signature': header,
        ...headers,
      }),
    )
  }
  expect(await everything()).toEqual(before)
})

test('the same key with a fresh payment gives the same order, and takes nothing', async () => {
  const headers = newKey()
  const first = await buy(store, buyer, 'voucher', voucher, { headers })
  const before = await everything()
  const fresh = await buyer.sign(first.accepts)
  const again = await post(store.url, purchasePath('voucher'), voucher, {
    'payment-signature': fresh.header,
    ...headers,
  })
  expectReplayed(again, first.answer)
  expect(again.body.orders).toEqual(first.answer.body.orders)
  expect(await everything()).toEqual(before)
})

test('the same key with a fresh payment for another body is 409, and takes nothing', async () => {
  const headers = newKey()
  const first = await buy(store, buyer, 'voucher', voucher, { headers })
  const before = await everything()
  const fresh = await buyer.sign(first.accepts)
  const send = (body: unknown) =>
    post(store.url, purchasePath('voucher'), body, {
      'payment-signature': fresh.header,
      ...headers,
    })
  expectOtherUse(await send({ ...voucher, firstName: 'Charles' }))
  expect(await everything()).toEqual(before)
})

test('a payment-identifier is a key like another', async () => {
  const identifier = `pay_${randomBytes(16).toString('hex')}`
  const first = await buy(store, buyer, 'voucher', voucher, { identifier })
  const before = await everything()
  const fresh = await buyer.sign(first.accepts, { identifier })
  const send = (body: unknown, headers = {}) =>
    post(store.url, purchasePath('voucher'), body, {
      'payment-signature': fresh.header,
      ...headers,
    })
  const again = await send(voucher)
  expectReplayed(again, first.answer)
  expect(again.body.orders).toEqual(first.answer.body.orders)
  expectOtherUse(await send({ ...voucher, firstName: 'Charles' }))

  const asKey = await buyer.sign(first.accepts)
  const byHeader = await post(store.url, purchasePath('voucher'), voucher, {
    'payment-signature': asKey.header,
    'idempotency-key': identifier,
  })
  expectReplayed(byHeader, first.answer)
  expect(await everything()).toEqual(before)
})

test('a key that has no right form is refused before anything is taken', async () => {
  const before = await everything()
  const accepts = await termsOf(store.url, 'voucher', voucher)
  for (const key of ['short', 'x'.repeat(129), 'sixteen characters!']) {
    const { header } = await buyer.sign(accepts)
    const answer = await post(store.url, purchasePath('voucher'), voucher, {
      'payment-signature': header,
      'idempotency-key': key,
    })
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_header', parameter: 'Idempotency-Key', charged: 'no' },
    })
  }
  const { header } = await buyer.sign(accepts, { identifier: 'short' })
  expect(
    await post(store.url, purchasePath('voucher'), voucher, { 'payment-signature': header }),
  ).toMatchObject({ status: 400, body: { parameter: 'payment-identifier', charged: 'no' } })
  expect(await everything()).toEqual(before)
})

test('a key belongs to the wallet that used it first', async () => {
  const headers = newKey()
  const mine = await buy(store, buyer, 'voucher', voucher, { headers })
  const theirs = await buy(store, await newBuyer(), 'voucher', voucher, { headers })
  expect(theirs.answer.status).toBe(200)
  expect(theirs.answer.headers.get('idempotent-replayed')).toBeNull()
  expect(theirs.answer.body.orderId).not.toBe(mine.answer.body.orderId)
})

test.each([2, 16])('%i equal requests at once make one order and one charge', async (count) => {
  const before = await everything()
  const accepts = await termsOf(store.url, 'voucher', voucher)
  const headers = newKey()
  const { header } = await buyer.sign(accepts)
  const answers = await Promise.all(
    Array.from({ length: count }, () =>
      post(store.url, purchasePath('voucher'), voucher, {
        'payment-signature': header,
        ...headers,
      }),
    ),
  )
  await expectOneCharge(answers, before)
})

test('equal requests at once, each with a payment of its own and one key, are charged once', async () => {
  const before = await everything()
  const accepts = await termsOf(store.url, 'voucher', voucher)
  const headers = newKey()
  const answers = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { header } = await buyer.sign(accepts)
      return post(store.url, purchasePath('voucher'), voucher, {
        'payment-signature': header,
        ...headers,
      })
    }),
  )
  await expectOneCharge(answers, before)
})

/** One order, its goods in every answer, the token in one, one price paid, one purchase made. */
async function expectOneCharge(
  answers: readonly Answer[],
  before: Awaited<ReturnType<typeof everything>>,
): Promise<void> {
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(new Set(answers.map(({ body }) => body.orderId)).size).toBe(1)
  expect(new Set(answers.map(({ body }) => body.orders[0].result.code)).size).toBe(1)
  expect(answers.filter(({ body }) => body.accessToken)).toHaveLength(1)
  expect(answers.filter(({ headers }) => !headers.get('idempotent-replayed'))).toHaveLength(1)
  const after = await everything()
  expect(before.balance - after.balance).toBe(500_000n)
  expect(after.earned - before.earned).toBe(500_000n)
  expect(after.bought - before.bought).toBe(1)
  expect((after.rows['orders'] ?? 0) - (before.rows['orders'] ?? 0)).toBe(1)
  const [answer] = answers
  expect(await bookedFor(store, answer?.body.orderId)).toMatchObject([{ deliveries: 1 }])
}

test('different orders at once by one buyer are each charged and delivered', async () => {
  const before = await everything()
  const bought = await Promise.all([
    buy(store, buyer, 'voucher', voucher),
    buy(store, buyer, 'topup', bodyFor('topup', 'OK')),
    buy(store, buyer, 'voucher', voucher),
    buy(store, buyer, 'esim', bodyFor('esim', 'OK')),
  ])
  for (const { answer } of bought) expect(answer.body.orders[0].state).toBe('FULFILLED')
  expect(new Set(bought.map(({ answer }) => answer.body.orderId)).size).toBe(4)
  expect(new Set(bought.map(({ answer }) => answer.body.transactionHash)).size).toBe(4)
  const after = await everything()
  expect(before.balance - after.balance).toBe(2_000_000n)
  expect(after.bought - before.bought).toBe(4)
})
