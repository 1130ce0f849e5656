import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { callerFor, expectNoInsides, expectProblem, rowsOf, sendRaw } from './reading.ts'
import { bodyFor, purchasePath, termsOf } from './requests.ts'
import { useStore } from './store.ts'

// What no client should send: each gets an error that says what to correct, and nothing of it is kept.

const store = useStore('still')
const call = callerFor(store)
let buyer: Buyer
let accepts: Accepts
let before: Record<string, number>

const path = purchasePath('voucher')
const good = JSON.stringify(bodyFor('voucher', 'OK'))
const json = { 'content-type': 'application/json' }

beforeAll(async () => {
  buyer = await newBuyer()
  accepts = await termsOf(store.url, 'voucher', JSON.parse(good))
  before = await rowsOf(store)
})
afterAll(async () => {
  expect((await call('/livez')).status).toBe(200)
  expect(await rowsOf(store)).toEqual(before)
  expect(store.logLines.filter((line) => line.includes('unexpected error'))).toEqual([])
})

describe('the body of a purchase', () => {
  const send = (body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    call(path, { method: 'POST', body, headers: { ...json, ...headers } })

  test.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['half an object', '{"offerId":'],
    ['two objects', `${good}${good}`],
    ['a raw control character', good.replace('TEST', 'TE\u0001ST')],
    ['form fields', 'offerId=TEST'],
    ['a deep nest', '['.repeat(8_000)],
    ['a prototype', '{"__proto__":{"offerId":"TEST-ESIM-OK"}}'],
    ['a constructor', '{"constructor":{"prototype":{"offerId":"x"}}}'],
    ['a list', `[${good}]`],
    ['a number', '402'],
    ['UTF-16', new Uint8Array(Buffer.from(good, 'utf16le'))],
    ['broken UTF-8', new Uint8Array(Buffer.from('{"offerId":"\xff"}', 'latin1'))],
  ])('is not %s', async (_, body) => {
    expectProblem(await send(body), { status: 400, code: 'invalid_json', charges: true })
  })

  test('of a thousand unknown fields is told of a few', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => [`field${at}`, at])
    const answer = await send(JSON.stringify({ ...JSON.parse(good), ...Object.fromEntries(many) }))
    expectProblem(answer, { status: 422, code: 'invalid_body', charges: true })
    expect(answer.body.errors).toHaveLength(20)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '*/*'])(
    'is not %s',
    async (type) => {
      const answer = await send(good, { 'content-type': type })
      expectProblem(answer, { status: 415, code: 'unsupported_media_type', charges: true })
    },
  )

  test('has at most 16 kB, and a byte more is too large', async () => {
    const padded = (bytes: number) => good + ' '.repeat(bytes - good.length)
    expect((await send(padded(16_384))).status).toBe(402)
    for (const bytes of [16_385, 1_000_000]) {
      const expected = { status: 413, code: 'body_too_large', charges: true }
      expectProblem(await send(padded(bytes)), expected)
    }
  })
})

describe('a payment that is not as it must be', () => {
  type Payload = Record<string, Record<string, Record<string, unknown>>> & Record<string, unknown>

  const encoded = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString('base64')
  const signed = async (): Promise<Payload> =>
    JSON.parse(Buffer.from((await buyer.sign(accepts)).header, 'base64').toString())
  const pay = (header: string, body = good) =>
    call(path, { method: 'POST', body, headers: { ...json, 'payment-signature': header } })

  /** Expects 402 that says why and what to pay, that nothing was charged, and that nothing is kept. */
  async function expectUnpaid(header: string, why: RegExp): Promise<void> {
    const { status, headers, body: demand, text } = await pay(header)
    expect(status, text).toBe(402)
    expect(demand.error, text).toMatch(why)
    expect(demand).toMatchObject({ x402Version: 2, charged: 'no', accepts: [{ amount: '500000' }] })
    expect(headers.get('payment-required')).toBeTruthy()
    expect(headers.get('payment-response')).toBeNull()
    expectNoInsides(text)
  }

  test.each([
    ['no base64', '%%%%'],
    ['base64 of no JSON', Buffer.from('{"x402').toString('base64')],
    ['JSON itself', '{"x402Version":2}'],
    ['an empty object', encoded({})],
    ['a prototype', Buffer.from('{"__proto__":{"x402Version":2}}').toString('base64')],
    ['a deep nest', Buffer.from('['.repeat(5_000)).toString('base64')],
    ['over 14 kB', 'A'.repeat(14_337)],
  ])('because it is %s is 402 with the reason', async (_, header) => {
    await expectUnpaid(header, /PAYMENT-SIGNATURE header cannot be read: .{5,}/)
  })

  test.each<[string, unknown]>([
    ['x402Version', '2'],
    ['accepted', null],
    ['accepted.network', 'eip155:84532\0'],
    ['accepted.asset', '\ud800'],
    ['accepted.amount', 500_000],
    ['accepted.amount', '5e5'],
    ['payload', []],
    ['payload.signature', '0xabc'],
    ['payload.authorization', null],
    ['payload.authorization.from', `0x${'g'.repeat(40)}`],
    ['payload.authorization.value', '٥٠٠'],
    ['payload.authorization.validBefore', '9'.repeat(13)],
    ['payload.authorization.nonce', '0x00'],
    ['extensions', []],
  ])('with %s = %j is 402 with the reason', async (place, value) => {
    const payload = await signed()
    const names = place.split('.')
    const last = names.pop() ?? ''
    const parent = names.reduce<Record<string, unknown>>(
      (part, name) => part[name] as Record<string, unknown>,
      payload,
    )
    parent[last] = value
    await expectUnpaid(encoded(payload), /cannot be read: .* malformed/)
  })

  test.each(['PAYMENT-SIGNATURE', 'X-PAYMENT'])(
    'of x402 version 1 in %s hears that the store does not take it',
    async (header) => {
      const first = { x402Version: 1, scheme: 'exact', payload: (await signed())['payload'] }
      const headers = { ...json, [header]: encoded(first) }
      const { status, body } = await call(path, { method: 'POST', body: good, headers })
      expect(status).toBe(402)
      expect(body).toMatchObject({ x402Version: 2, code: 'payment_invalid', charged: 'no' })
      expect(body.error).toMatch(/^This store does not take x402 version 1\./)
    },
  )

  test.each<[string, number, boolean | 'unknown']>([
    // What cannot be read may be the same request as one that was charged.
    ['{', 400, 'unknown'],
    ['{"offerId":"NONE","firstName":"A","lastName":"B"}', 404, true],
    ['{"offerId":"TEST-VOUCHER-OK"}', 422, true],
    ['{}', 422, true],
  ])('is not looked at beside the body %s', async (body, status, charges) => {
    const { header } = await buyer.sign(accepts)
    expectProblem(await pay(header, body), { status, charges })
  })
})

/** One request as bytes; the connection is to be closed after its answer. */
function request(line: string, headers: readonly string[] = [], content = ''): string {
  return [`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', content].join('\r\n')
}

const posted = (headers: readonly string[], content = good) =>
  request(`POST ${path}`, ['Content-Type: application/json', ...headers], content)
const sized = (content: string) => `Content-Length: ${Buffer.byteLength(content)}`

/** Sends it, and expects this status with a readable body and nothing of our insides. */
async function expectStatus(bytes: string | readonly (string | Uint8Array)[], ...status: number[]) {
  const answer = await sendRaw(store, bytes)
  const about = `${String(bytes).slice(0, 200)} is answered ${answer.text.slice(0, 400)}`
  expect(status, about).toContain(answer.status)
  expectNoInsides(answer.text)
  if (answer.status < 400 || answer.status === 402) return answer
  const [, text = ''] = answer.text.split('\r\n\r\n')
  const { error, detail } = JSON.parse(text)
  expect(error ?? detail, about).toMatch(/^\S.{5,}\.$/s)
  return answer
}

describe('on the wire', () => {
  test.each([
    '/ai/%2e%2e/livez',
    '/../../../../etc/passwd',
    '/..%2f..%2f..%2fetc%2fpasswd',
    '/..\\..\\windows\\win.ini',
    '/ai/vouchers%00',
    '/ai/vouchers/..;/',
    '/api/catalog/vouchers/offers/../purchase/info',
    '/style.css/../../package.json',
    '/package.json',
    '/.env',
    '/.git/config',
    `/${'a/'.repeat(3_000)}`,
  ])('%s is nothing here', async (target) => {
    await expectStatus(request(`GET ${target}`), 404)
  })

  test.each([
    ['a request line with a space', request('GET /ai/vou chers')],
    ['a request line without a path', request('GET ')],
    ['a method of its own', request('BUY /ai/vouchers')],
    ['a path that is no UTF-8', request('GET /ai/%ff')],
    ['no host', 'GET /ai HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a null in a header', posted(['X-A: a\0b'], '')],
    ['a space before the colon', posted(['X-A : b'], '')],
    ['two lengths', posted(['Content-Length: 5', 'Content-Length: 6'], '')],
    ['a length and chunks', posted(['Content-Length: 5', 'Transfer-Encoding: chunked'], '')],
    ['an unknown encoding of the body', posted(['Transfer-Encoding: gzip'], '')],
    ['a broken chunk', posted(['Transfer-Encoding: chunked'], '5\r\nabc\r\n0\r\n\r\n')],
    [
      'two idempotency keys',
      posted([sized(good), ...Array(2).fill(`Idempotency-Key: ${'k'.repeat(16)}`)]),
    ],
  ])('%s is refused', async (_, bytes) => {
    await expectStatus(bytes, 400, 404)
  })

  test('headers over 16 kB are 431', async () => {
    await expectStatus(request('GET /ai', [`X-Big: ${'x'.repeat(16_500)}`]), 431)
    await expectStatus(request('GET /ai', Array(6_000).fill('X-Many: 1234567890')), 431)
  })

  test.each([
    ['Authorization', `Bearer ${'x'.repeat(5_000)}`],
    ['Authorization', '\xff\xfe'],
    ['If-None-Match', '"'.repeat(5_000)],
    ['Accept-Encoding', 'x'.repeat(5_000)],
    ['X-Forwarded-For', `${'1.2.3.4, '.repeat(500)}`],
    ['X-Forwarded-Host', 'evil.example'],
    ['Prefer', `wait=${'9'.repeat(200)}`],
    ['Upgrade', 'websocket'],
  ])('%s: %s changes nothing', async (name, value) => {
    const bytes = Buffer.from(request('GET /ai', [`${name}: ${value}`]), 'latin1')
    const { text } = await expectStatus([bytes], 200, 400)
    expect(text).not.toContain('evil.example')
  })

  test('chunks without a length are taken, and what is or says to be over 16 kB is 413', async () => {
    const chunked = (content: string) => {
      const chunks = content.match(/.{1,1000}/gs) ?? []
      const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      return posted(['Transfer-Encoding: chunked'], `${framed.join('')}0\r\n\r\n`)
    }
    await expectStatus(chunked(good), 402)
    await expectStatus(chunked(good + ' '.repeat(16_385 - good.length)), 413)
    await expectStatus(posted(['Content-Length: 99999999999'], ''), 413)
  })

  test('what follows a body is a request of its own, never a part of it', async () => {
    const [head = ''] = posted([sized(good)]).split('\r\n\r\n')
    const first = `${head.replace('Connection: close', 'Connection: keep-alive')}\r\n\r\n${good}`
    const { text } = await expectStatus(first + request('GET /admin'), 402)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 402', 'HTTP/1.1 404'])
  })

  test('a request that stops half-way holds nobody up', async () => {
    const { hostname, port } = new URL(store.url)
    const hanging = connect(Number(port), hostname)
    hanging.write(posted(['Content-Length: 500'], '{"offerId":'))
    for (const at of ['/ai', '/livez', '/ai/vouchers']) expect((await call(at)).status).toBe(200)
    hanging.destroy()
  })
})

test('ids of orders that are none are 404 and tell nothing', async () => {
  const looksGood = `ord_${'z'.repeat(26)}`
  const ids = [
    'NONE',
    '__proto__',
    '%00',
    '..%2f..%2fetc%2fpasswd',
    "' or 1=1 --",
    'x'.repeat(5_000),
  ]
  for (const id of [...ids, looksGood, `pay_${'z'.repeat(26)}`, looksGood.toUpperCase()]) {
    expectProblem(await call(`/api/catalog/orders/${id}`), { status: 404 })
    expect((await call(`/api/catalog/orders/${id}/refund`)).status).toBe(404)
    expectProblem(await call(`/api/catalog/vouchers/offers/${id}`), { status: 404 })
  }
})

test.each([
  ['without its header', 401, {}],
  ['with its header', 204, 'its own'],
])('a webhook of the supplier %s that says nothing does nothing', async (_, status, headers) => {
  const own = headers === 'its own' ? { [store.webhook.header]: store.webhook.value } : {}
  for (const content of ['{}', '[]', 'null', '{"transactionId":5}', '{"transactionId":"../x"}']) {
    const options = { method: 'POST', body: content, headers: { ...json, ...own } }
    const answer = await call('/webhooks/supplier', options)
    expect(answer.status, content).toBe(status)
    expectNoInsides(answer.text)
  }
})
