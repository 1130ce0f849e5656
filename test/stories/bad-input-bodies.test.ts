import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callerFor, expectProblem, rowsOf } from './reading.ts'
import { bodyFor, type Kind, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)
let before: Record<string, number>

beforeAll(async () => {
  before = await rowsOf(store)
})
afterAll(async () => {
  expect(await rowsOf(store)).toEqual(before)
})

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
const json = { 'content-type': 'application/json' }

const send = (kind: Kind, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
  call(purchasePath(kind), { method: 'POST', body, headers: { ...json, ...headers } })

describe.each(kinds)('the body of a %s', (kind) => {
  const good = JSON.stringify(bodyFor(kind, 'OK'))

  test.each([
    ['half an object', '{"offerId":'],
    ['a trailing comma', `${good.slice(0, -1)},}`],
    ['two objects', `${good}${good}`],
    ['a comment', `/* x */${good}`],
    ['single quotes', good.replaceAll('"', "'")],
    ['a bare word', 'NaN'],
    ['a raw control character', good.replace('TEST', 'TE\u0001ST')],
    ['a raw line break', good.replace('TEST', 'TE\nST')],
    ['form fields', 'offerId=TEST'],
    ['a deep nest', '['.repeat(8_000)],
    ['a prototype', '{"__proto__":{"offerId":"TEST-ESIM-OK"}}'],
    ['a prototype deep inside', '{"a":{"__proto__":{"b":1}}}'],
    ['a constructor', '{"constructor":{"prototype":{"offerId":"x"}}}'],
    ['a list', `[${good}]`],
    ['a text', '"offerId"'],
    ['a number', '402'],
    ['true', 'true'],
    ['UTF-16', Buffer.from(good, 'utf16le')],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from('{"offerId":"'), Buffer.of(255), Buffer.from('"}')]),
    ],
    [
      'an overlong form',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.of(192, 175), Buffer.from('"}')]),
    ],
  ])('is not %s', async (_, body) => {
    const bytes = typeof body === 'string' ? body : new Uint8Array(body)
    expectProblem(await send(kind, bytes), { status: 400, code: 'invalid_json', charges: true })
  })

  test('of a thousand unknown fields is told of a few', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => [`field${at}`, at])
    const body = { ...bodyFor(kind, 'OK'), ...Object.fromEntries(many) }
    const answer = await send(kind, JSON.stringify(body))
    expectProblem(answer, { status: 422, code: 'invalid_body', charges: true })
    expect(answer.body.errors).toHaveLength(20)
    expect(answer.text.length).toBeLessThan(8_000)
  })

  test('has each of its keys once', async () => {
    const first = good.replace('{', `{"offerId":"TEST-${kind.toUpperCase()}-FAIL",`)
    const answer = await send(kind, first)
    // JSON leaves the meaning open; whatever is taken must be what is priced, never a mix.
    expect([400, 402, 422]).toContain(answer.status)
    if (answer.status === 402) expect(answer.body.accepts[0].amount).toBe('500000')
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json-patch',
    'text/json',
    'json',
    '*/*',
  ])('is not %s', async (type) => {
    const answer = await send(kind, good, { 'content-type': type })
    expectProblem(answer, { status: 415, code: 'unsupported_media_type', charges: true })
  })

  test('may say its character set', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8']) {
      expect((await send(kind, good, { 'content-type': type })).status).toBe(402)
    }
  })

  test('has at most 16 kB, and a byte more is too large', async () => {
    const padded = (bytes: number) => good + ' '.repeat(bytes - good.length)
    expect((await send(kind, padded(16_384))).status).toBe(402)
    for (const bytes of [16_385, 100_000, 1_000_000]) {
      expectProblem(await send(kind, padded(bytes)), {
        status: 413,
        code: 'body_too_large',
        charges: true,
      })
    }
  })
})

describe('a quote', () => {
  test.each(kinds)('of a %s takes each field once and in readable text', async (kind) => {
    const path = purchasePath(kind)
    const { offerId } = bodyFor(kind, 'OK')
    for (const query of [
      `offerId=${offerId}&offerId=${offerId}`,
      'offerId=%FF',
      'offerId=%',
      'offerId=%zz',
      '%FF=1',
      `offerId=${'x'.repeat(3_000)}`,
    ]) {
      expectProblem(await call(`${path}?${query}`), { status: 400, charges: true })
    }
    for (const query of ['', 'x=1', '__proto__=1', 'constructor=1', '=1', 'offerId']) {
      const answer = await call(`${path}?${query}`)
      expectProblem(answer, { status: 422, code: 'invalid_body', charges: true })
      expect(answer.text).toContain('offerId')
    }
  })
})
