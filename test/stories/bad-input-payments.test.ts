import { beforeAll, describe, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { callerFor, expectNoInsides, expectProblem, rowsOf, sendRaw } from './reading.ts'
import { bodyFor, buy, purchasePath, termsOf, until } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)
let buyer: Buyer
let accepts: Accepts
let before: Record<string, number>

const path = purchasePath('voucher')
const body = JSON.stringify(bodyFor('voucher', 'OK'))
const json = { 'content-type': 'application/json' }

beforeAll(async () => {
  buyer = await newBuyer()
  accepts = await termsOf(store.url, 'voucher', JSON.parse(body))
  before = await rowsOf(store)
})

const pay = (header: string) =>
  call(path, { method: 'POST', body, headers: { ...json, 'payment-signature': header } })

/** Expects 402 that says why and what to pay, that nothing was charged, and that nothing is kept. */
async function expectUnpaid(header: string, why: RegExp, code?: string): Promise<void> {
  const balance = await buyer.balance()
  const { status, headers, body: demand, text } = await pay(header)
  expect(status, text).toBe(402)
  expect(demand.error, text).toMatch(why)
  if (code !== undefined) expect(demand.code).toBe(code)
  expect(demand).toMatchObject({ x402Version: 2, charged: 'no', accepts: [{ amount: '500000' }] })
  expect(headers.get('payment-required')).toBeTruthy()
  expect(headers.get('payment-response')).toBeNull()
  expectNoInsides(text)
  expect(await rowsOf(store)).toEqual(before)
  expect(await buyer.balance()).toBe(balance)
}

const encoded = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString('base64')
const decoded = (header: string) => JSON.parse(Buffer.from(header, 'base64').toString())

describe('a PAYMENT-SIGNATURE that cannot be read', () => {
  test.each([
    ['no base64', '%%%%'],
    ['base64 of no JSON', Buffer.from('{"x402').toString('base64')],
    ['base64 of broken UTF-8', Buffer.of(255, 254, 253).toString('base64')],
    ['a word', 'paid'],
    ['JSON itself', '{"x402Version":2}'],
    ['a list', encoded([])],
    ['null', encoded(null)],
    ['a number', encoded(402)],
    ['an empty object', encoded({})],
    ['of version 2 and nothing else', encoded({ x402Version: 2 })],
    ['a prototype', Buffer.from('{"__proto__":{"x402Version":2}}').toString('base64')],
    ['a deep nest', Buffer.from('['.repeat(5_000)).toString('base64')],
    ['over 14 kB', 'A'.repeat(14_337)],
    ['nearly as long as all headers may be', 'A'.repeat(14_000)],
  ])('because it is %s is 402 with the reason', async (_, header) => {
    const why = /PAYMENT-SIGNATURE header cannot be read: .{5,}/
    await expectUnpaid(header, why, 'payment_invalid')
  })

  test('because it is longer than 14 kB is 402, though all else about it is right', async () => {
    const payload = decoded((await buyer.sign(accepts)).header)
    const long = encoded({ ...payload, extensions: { filler: 'x'.repeat(10_300) } })
    expect(long.length).toBeGreaterThan(14_336)
    await expectUnpaid(long, /longer than 14 kB/)
  })

  test('because there are two of it is 402', async () => {
    const { header } = await buyer.sign(accepts)
    const lines = [`POST ${path} HTTP/1.1`, 'Host: x', 'Connection: close']
    const headers = [
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `PAYMENT-SIGNATURE: ${header}`,
      `PAYMENT-SIGNATURE: ${header}`,
    ]
    const answer = await sendRaw(store, [...lines, ...headers, '', body].join('\r\n'))
    expect(answer.status, answer.text).toBe(402)
    expect(await rowsOf(store)).toEqual(before)
  })

  test('is refused before its payment when the body is bad', async () => {
    const { header } = await buyer.sign(accepts)
    const headers = { ...json, 'payment-signature': header }
    const wrong = [
      ['{', 400],
      ['{"offerId":"NONE","firstName":"A","lastName":"B"}', 404],
      ['{"offerId":"TEST-VOUCHER-OK"}', 422],
      ['{}', 422],
      ['', 422],
    ] as const
    for (const [bad, status] of wrong) {
      expectProblem(await call(path, { method: 'POST', body: bad, headers }), {
        status,
        // What cannot be read may be the same request as one that was charged.
        charges: status === 400 ? 'unknown' : true,
      })
    }
    expect(await rowsOf(store)).toEqual(before)
  })
})

test.each(['PAYMENT-SIGNATURE', 'X-PAYMENT'])(
  'a payment of x402 version 1 in %s hears first that the store does not take it',
  async (header) => {
    const { payload } = decoded((await buyer.sign(accepts)).header)
    const first = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload }
    const headers = { ...json, [header]: encoded(first) }
    const { status, body: demand } = await call(path, { method: 'POST', body, headers })
    expect(status).toBe(402)
    expect(demand).toMatchObject({ x402Version: 2, code: 'payment_invalid', charged: 'no' })
    for (const text of [demand.error, demand.message]) {
      expect(text).toMatch(/^This store does not take x402 version 1\./)
    }
    expect(await rowsOf(store)).toEqual(before)
  },
)

describe('a payment that is not as it must be', () => {
  type Payload = Record<string, Record<string, Record<string, unknown>>> & Record<string, unknown>

  /** Where in the payload what is put; every one of these is refused by its form. */
  const malformed: readonly (readonly [string, unknown])[] = [
    ['x402Version', '2'],
    ['x402Version', null],
    ['accepted', null],
    ['accepted.scheme', 5],
    ['accepted.network', 'x'.repeat(100)],
    ['accepted.network', 'eip155:84532\0'],
    ['accepted.asset', '\ud800'],
    ['accepted.amount', 500_000],
    ['accepted.amount', '-1'],
    ['accepted.amount', '5e5'],
    ['accepted.amount', '9'.repeat(31)],
    ['accepted.maxTimeoutSeconds', 0],
    ['accepted.maxTimeoutSeconds', 1.5],
    ['accepted.extra', 'x'],
    ['payload', []],
    ['payload.signature', '0x'],
    ['payload.signature', '0xabc'],
    ['payload.signature', 'sig'],
    ['payload.signature', 7],
    ['payload.authorization', null],
    ['payload.authorization.from', '0x1'],
    ['payload.authorization.from', `0x${'g'.repeat(40)}`],
    ['payload.authorization.to', null],
    ['payload.authorization.value', 500_000],
    ['payload.authorization.value', '0x7a120'],
    ['payload.authorization.value', '٥٠٠'],
    ['payload.authorization.validAfter', '-1'],
    ['payload.authorization.validBefore', '9'.repeat(13)],
    ['payload.authorization.validBefore', 'soon'],
    ['payload.authorization.nonce', '0x00'],
    ['payload.authorization.nonce', 0],
    ['extensions', 'x'],
    ['extensions', []],
  ]

  function changed(payload: Payload, place: string, value: unknown): Payload {
    const copy = structuredClone(payload)
    const names = place.split('.')
    const last = names.pop() ?? ''
    const parent = names.reduce<Record<string, unknown>>(
      (part, name) => part[name] as Record<string, unknown>,
      copy,
    )
    parent[last] = value
    return copy
  }

  test.each(malformed)('with %s = %j is 402 with the reason', async (place, value) => {
    const payload = decoded((await buyer.sign(accepts)).header)
    await expectUnpaid(encoded(changed(payload, place, value)), /cannot be read: .* malformed/)
  })

  test.each<[string, unknown]>([
    ['payload.authorization.value', '9'.repeat(30)],
    ['payload.authorization.validAfter', '999999999999'],
    ['payload.authorization.from', `0x${'22'.repeat(20)}`],
    ['payload.authorization.nonce', `0x${'33'.repeat(32)}`],
    ['payload.signature', `0x${'00'.repeat(65)}`],
    ['payload.signature', '0x00'],
    ['payload.signature', `0x${'ff'.repeat(65)}`],
    ['payload.signature', `0x${'ab'.repeat(1_500)}`],
  ])('with %s = %j is not taken', async (place, value) => {
    const payload = decoded((await buyer.sign(accepts)).header)
    await expectUnpaid(encoded(changed(payload, place, value)), /\w{3,}/)
  })

  test.each(['', 'short', 'x'.repeat(129), 'with spaces in it ok', 7, null])(
    'with the payment-identifier %j says so',
    async (id) => {
      const payload = decoded((await buyer.sign(accepts)).header)
      const extensions = { 'payment-identifier': { info: { required: false, id } } }
      expectProblem(await pay(encoded({ ...payload, extensions })), {
        status: 400,
        code: 'invalid_header',
        parameter: 'payment-identifier',
        charges: true,
      })
      expect(await rowsOf(store)).toEqual(before)
    },
  )
})

describe('a refund claim', () => {
  test('takes nothing that it is not, and keeps nothing of what it refuses', async () => {
    const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'FAIL'))
    const order = await until(store, answer.body.orderId, (one) => one.refund_state === 'REFUNDED')
    const refund = `/api/catalog/orders/${order.orderId}/refund`
    const kept = await rowsOf(store)
    const claim = (content: string, headers: Record<string, string> = {}) =>
      call(refund, {
        method: 'POST',
        body: content,
        headers: { ...json, 'idempotency-key': 'k'.repeat(20), ...headers },
      })
    const keys = ['short', 'x'.repeat(129), 'with spaces in it ok']
    for (const key of keys) {
      expectProblem(await claim('{}', { 'idempotency-key': key }), {
        status: 400,
        code: 'invalid_header',
        charges: true,
      })
    }
    const withoutKey = await call(refund, { method: 'POST', body: '{}', headers: json })
    expectProblem(withoutKey, { status: 400, code: 'idempotency_key_missing', charges: true })
    for (const name of ['refund_to', 'refundTo', 'to', 'address', 'destination', 'recipient']) {
      expectProblem(await claim(JSON.stringify({ [name]: `0x${'11'.repeat(20)}` })), {
        status: 422,
        code: 'refund_destination_refused',
        parameter: name,
        charges: true,
      })
    }
    const bad: readonly object[] = [
      { x: 1 },
      { amount: '1' },
      { reason: 5 },
      { reason: 'x'.repeat(501) },
      { orderIds: 'all' },
      { orderIds: Array(11).fill(order.orderId) },
      { orderIds: [`ord_${'0'.repeat(26)}`] },
      { paymentId: null },
      { paymentId: `pay_${'0'.repeat(26)}` },
      { transactionHash: `0x${'0'.repeat(64)}` },
      { transactionHash: 'x'.repeat(200) },
    ]
    for (const one of bad) {
      expectProblem(await claim(JSON.stringify(one)), {
        status: 422,
        code: 'invalid_body',
        charges: true,
      })
    }
    for (const content of ['{', '[]', '"x"', '{"__proto__":{}}']) {
      expectProblem(await claim(content), { status: 400, code: 'invalid_json', charges: true })
    }
    expectProblem(await claim('{}', { 'content-type': 'text/plain' }), {
      status: 415,
      charges: true,
    })
    expectProblem(await claim(`{}${' '.repeat(16_400)}`), { status: 413, charges: true })
    expect(await rowsOf(store)).toEqual(kept)
  })
})

describe('what only the sandbox and the supplier call', () => {
  test('takes nothing bad either', async () => {
    const kept = await rowsOf(store)
    for (const content of ['', '{', '[]', '{"transactionId":"x"}', 'x'.repeat(300_000)]) {
      const { status, text } = await call('/webhooks/supplier', {
        method: 'POST',
        body: content,
        headers: json,
      })
      expect([400, 401, 413]).toContain(status)
      expectNoInsides(text)
    }
    const headers = { ...json, [store.webhook.header]: store.webhook.value }
    const odd = ['{}', '[]', 'null', '7', '{"transactionId":5}', '{"transactionId":"../x"}']
    for (const content of odd) {
      const answer = await call('/webhooks/supplier', { method: 'POST', body: content, headers })
      expect([204, 401], answer.text).toContain(answer.status)
    }
    expect(await rowsOf(store)).toEqual(kept)
  })
})
