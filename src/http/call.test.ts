import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { viewerOf as viewerShown, viewerWithoutWallet } from '../api/buying/credentials.ts'
import type { BuyingDeps } from '../api/operation.ts'
import { Refusal } from '../lib/refusal.ts'
import { fixtureTerms, paymentFor } from '../payments/payments.fixture.ts'
import type { PaymentPayload } from '../payments/terms.ts'
import { credentialsIn, postedFields, preferredWaitMs, quoteFields } from './call.ts'

const request = (headers: Record<string, unknown>) => ({ headers }) as unknown as FastifyRequest
const posted = (body: unknown, query = '') =>
  ({ body, raw: { method: 'POST', url: `/x${query}` } }) as unknown as FastifyRequest
const deps = { signIn: {} } as BuyingDeps
const key = 'Key_of-16-letter'
const viewerOf = (of: BuyingDeps, by: FastifyRequest) => viewerShown(of, credentialsIn(by))
const keysOf = (by: FastifyRequest, paid?: PaymentPayload) =>
  viewerWithoutWallet(credentialsIn(by), paid).keys
const idempotencyKeyOf = (by: FastifyRequest) => credentialsIn(by).idempotencyKey
const payment = paymentFor(fixtureTerms(), new Date('2026-01-05T12:00:00Z'))
const identified = (info: unknown) => ({
  ...payment,
  extensions: { 'payment-identifier': { info, schema: {} } },
})

describe('the idempotency key', () => {
  test.each([key, 'a'.repeat(128), '0'.repeat(16)])('%s is taken', (given) => {
    expect(idempotencyKeyOf(request({ 'idempotency-key': given }))).toBe(given)
  })

  test.each([
    '',
    'a'.repeat(15),
    'a'.repeat(129),
    'key of 16 letters',
    'schlüssel-von-16-z',
    'key.of.16.letters',
    `${key}\n`,
    `${key}, ${key}`,
    [key, key],
  ])('%j is refused', (given) => {
    const act = () => idempotencyKeyOf(request({ 'idempotency-key': given }))
    expect(act).toThrow(/must be 16 to 128 characters/)
    expect(act).toThrow(
      expect.objectContaining({
        code: 'invalid_header',
        details: { parameter: 'Idempotency-Key' },
      }),
    )
  })
})

describe('the credentials of a request', () => {
  test('shows a key, the identifier of the payment, or both', () => {
    const withKey = request({ 'idempotency-key': key })
    const other = 'another-key-of-24-letters'
    expect(keysOf(withKey)).toEqual([key])
    expect(keysOf(request({}), identified({ id: other }))).toEqual([other])
    expect(keysOf(withKey, identified({ id: other }))).toEqual([key, other])
    expect(keysOf(withKey, identified({ id: key }))).toEqual([key])
  })

  test.each([undefined, null, 'x', {}, { required: false }, []])(
    'has no identifier in %j',
    (info) => {
      expect(keysOf(request({}), identified(info))).toEqual([])
    },
  )

  test.each(['short', '', 1, null, {}])('is refused with the identifier %j', (id) => {
    expect(() => keysOf(request({}), identified({ id }))).toThrow(
      expect.objectContaining({
        code: 'invalid_header',
        details: { parameter: 'payment-identifier' },
      }),
    )
  })

  test.each([
    ['Bearer kat_abc-_1', 'kat_abc-_1'],
    ['bearer kat_abc', 'kat_abc'],
    ['Basic kat_abc', undefined],
    ['Bearer', undefined],
    ['Bearer a b', undefined],
    ['Bearer kat_ü', undefined],
    [`Bearer ${'a'.repeat(201)}`, undefined],
  ])('%s shows the token %s', async (authorization, accessToken) => {
    expect((await viewerOf(deps, request({ authorization }))).accessToken).toBe(accessToken)
  })
})

describe('how long a buyer waits', () => {
  test.each<[string | string[] | undefined, number | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['respond-async', 0],
    ['Respond-Async', 0],
    ['wait=3', 3_000],
    ['wait=0', 0],
    ['respond-async, wait=10', 10_000],
    ['wait=10;foo, respond-async', 10_000],
    [['respond-async', 'wait=7'], 7_000],
    ['wait=-3', undefined],
    ['wait=3.5', undefined],
    ['wait=99999', undefined],
    ['await=3', undefined],
    ['respond-asynchronously', undefined],
    ['return=minimal', undefined],
  ])('%j: %s ms', (prefer, ms) => {
    expect(preferredWaitMs(request({ prefer }))).toBe(ms)
  })
})

describe('the fields of a body', () => {
  test('are those of the object, and none for no body', () => {
    expect(postedFields(posted({ offerId: 'A', value: 5 }))).toEqual({ offerId: 'A', value: 5 })
    expect(postedFields(posted(undefined))).toEqual({})
    expect(postedFields(posted(null))).toEqual({})
    expect(postedFields(posted(undefined, '?'))).toEqual({})
  })

  test.each(['?offerId=A', '?a', '?%6fffer', '?x=1&offerId=A'])(
    'are not in the query %s',
    (query) => {
      const act = () => postedFields(posted({ offerId: 'A' }, query))
      expect(act).toThrow(expect.objectContaining({ code: 'unknown_parameter' }))
      expect(act).toThrow(/in the query. POST takes its fields as JSON in the body/)
    },
  )

  test.each([[[]], ['text'], [1], [true]])('are not in %j', (body) => {
    expect(() => postedFields(posted(body))).toThrow(Refusal)
    expect(() => postedFields(posted(body))).toThrow(/must be a JSON object/)
  })
})

const path = '/api/catalog/vouchers/purchase/info'
const fieldsOf = (query: string) => ({ ...quoteFields(`${path}?${query}`) })

describe('the fields of a quote', () => {
  test('are those that a body would carry, as texts', () => {
    const query = 'offerId=A&firstName=Ada+M.&lastName=L%C3%B3pez%26Co&value=12.5'
    expect(fieldsOf(query)).toEqual({
      offerId: 'A',
      firstName: 'Ada M.',
      lastName: 'López&Co',
      value: '12.5',
    })
  })

  test.each(['', '?', '?&&'])('are none in %j', (query) => {
    expect({ ...quoteFields(path + query) }).toEqual({})
  })

  test.each([
    ['msisdn=%2B50255551234', '+50255551234'],
    ['msisdn=+50255551234', '+50255551234'],
    ['msisdn=50255551234', '50255551234'],
    ['msisdn=++502', '+ 502'],
  ])('%s is the number %s', (query, msisdn) => {
    expect(fieldsOf(query)).toEqual({ msisdn })
  })

  test('may be called like parts of every object', () => {
    const fields = quoteFields(`${path}?__proto__=a&constructor=b&toString=c`)
    expect(Object.entries(fields)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ])
  })

  test('come back whatever they are, once they are escaped as a client does', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 5 }), (fields) => {
        const told = Object.fromEntries(
          Object.entries(fields).filter(([name]) => name !== 'value' && name !== 'msisdn'),
        )
        const query = new URLSearchParams(Object.entries(told)).toString()
        fc.pre(query.length <= 2_048)
        expect({ ...quoteFields(`${path}?${query}`) }).toEqual({ ...told })
      }),
    )
  })
})

describe('a query is refused', () => {
  test.each([
    ['offerId=A&offerId=B', 'repeated_parameter'],
    ['offerId=A&offer%49d=B', 'repeated_parameter'],
    ['offerId=%E0%A4%A', 'invalid_parameter'],
    ['offerId=%', 'invalid_parameter'],
    ['%FF=a', 'invalid_parameter'],
    [`offerId=${'a'.repeat(2_048)}`, 'invalid_parameter'],
  ])('%s', (query, code) => {
    expect(() => fieldsOf(query)).toThrow(expect.objectContaining({ code }))
  })
})
