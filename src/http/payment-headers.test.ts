import {
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import fc from 'fast-check'
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { fixtureTerms, paymentFor } from '../payments/payments.fixture.ts'
import { answer402, paymentIn, paymentResponse, presentedPayment } from './call.ts'

const payment = paymentFor(fixtureTerms(), new Date('2026-01-05T12:00:00Z'))
const base64 = (content: unknown) =>
  Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64')

function reasonOf(header: string | string[]): string {
  const presented = presentedPayment(header)
  return presented.type === 'unreadable' ? presented.reason : presented.type
}

describe('the payment header', () => {
  test('of a stock client is read', () => {
    expect(presentedPayment(encodePaymentSignatureHeader(payment as never))).toEqual({
      type: 'payment',
      payment,
    })
  })

  test('may carry a signature of a smart wallet that is not deployed yet', () => {
    const long = {
      ...payment,
      payload: { ...payment.payload, signature: `0x${'12'.repeat(2_000)}` },
    }
    expect(presentedPayment(base64(long)).type).toBe('payment')
  })

  test.each([[undefined], ['']])('%j is none', (header) => {
    expect(presentedPayment(header)).toEqual({ type: 'none' })
  })

  test.each<[string, string | string[], RegExp]>([
    ['two of them', [base64(payment), base64(payment)], /more than one/],
    ['two of them in one line', `${base64(payment)}, ${base64(payment)}`, /not base64/],
    ['more than 14 kB', base64({ ...payment, more: 'x'.repeat(11_000) }), /longer than 14 kB/],
    ['no base64', '{"x402Version":2}', /not base64/],
    [
      'base64url',
      Buffer.from(JSON.stringify(payment)).toString('base64url').replace(/^./, '-'),
      /not base64/,
    ],
    ['a blank', ' ', /not base64/],
    ['no JSON', base64('hello'), /not base64 of a JSON object/],
    ['half a JSON', base64(JSON.stringify(payment).slice(0, -5)), /not base64 of a JSON object/],
    ['a list', base64([payment]), /missing or malformed/],
    ['null', base64('null'), /missing or malformed/],
    ['a number', base64('2'), /missing or malformed/],
    ['a text', base64('"x"'), /missing or malformed/],
    ['nothing inside', base64({}), /x402Version is missing or malformed/],
    ['version 3', base64({ ...payment, x402Version: 3 }), /x402Version is/],
    ['no terms', base64({ ...payment, accepted: undefined }), /accepted is/],
    ['no payload', base64({ ...payment, payload: undefined }), /payload is/],
    [
      'no signature',
      base64({ ...payment, payload: { ...payment.payload, signature: undefined } }),
      /payload\.signature is/,
    ],
    [
      'no authorization',
      base64({ ...payment, payload: { signature: '0x12' } }),
      /payload\.authorization is/,
    ],
    [
      'a huge number',
      base64(JSON.stringify(payment).replace('300', `${'9'.repeat(400)}`)),
      /maxTimeoutSeconds is/,
    ],
    ['a deep nest', base64('['.repeat(3_000) + ']'.repeat(3_000)), /missing or malformed/],
    ['deep extensions', base64({ ...payment, extensions: '['.repeat(2_000) }), /extensions is/],
  ])('with %s is named as unreadable', (_, header, reason) => {
    expect(reasonOf(header)).toMatch(/^The PAYMENT-SIGNATURE header cannot be read: /)
    expect(reasonOf(header)).toMatch(reason)
  })

  test.each([
    ['payment-signature', 'PAYMENT-SIGNATURE'],
    ['x-payment', 'X-PAYMENT'],
  ])('%s is refused with 400 where it is malformed', (name, parameter) => {
    const headers = { [name]: 'e30=' }
    const details = { parameter, charged: 'no', provesNothing: true }
    const refused = { code: 'invalid_header', details }
    expect(() => paymentIn({ headers, heldUp: undefined })).toThrow(
      expect.objectContaining(refused),
    )
    const old = { [name]: base64({ x402Version: 1 }) }
    expect(paymentIn({ headers: old, heldUp: undefined })).toMatchObject({
      reason: expect.stringMatching(/version 1/),
    })
  })

  test('with a version 1 payload is unreadable, whatever it pays', () => {
    const { signature, authorization } = payment.payload
    const old = {
      x402Version: 1,
      scheme: 'exact',
      network: 'base',
      payload: { signature, authorization },
    }
    expect(reasonOf(base64(old))).toMatch(/^This store does not take x402 version 1/)
  })

  test('never brings what it holds into the reason', () => {
    const told = { ...payment, accepted: { ...payment.accepted, amount: '<script>' } }
    expect(reasonOf(base64(told))).not.toContain('script')
  })

  test('does not name a part of an object’s own making', () => {
    const header = base64(`{"__proto__": ${JSON.stringify(payment)}}`)
    expect(presentedPayment(header).type).toBe('unreadable')
  })

  test('never throws, whatever it holds', () => {
    const anything = fc.oneof(fc.string(), fc.json().map(base64), fc.base64String())
    const never = (header: string) => ['none', 'unreadable'].includes(presentedPayment(header).type)
    fc.assert(fc.property(anything, never), { numRuns: 500 })
  })
})

describe('what the store sends is encoded as the package would', () => {
  test('a demand, whatever its texts', async () => {
    const required = { x402Version: 2, error: 'Käse, 買, 😀', resource: {}, accepts: [] } as never
    const app = Fastify()
    app.get('/', (_, reply) => answer402(reply, required, {}))
    const { headers } = await app.inject('/')
    expect(headers['payment-required']).toBe(encodePaymentRequiredHeader(required))
  })

  test('a receipt', () => {
    const settled = { success: true, transaction: '0x12', network: 'eip155:8453', extensions: {} }
    expect(paymentResponse(settled as never)).toEqual({
      'PAYMENT-RESPONSE': encodePaymentResponseHeader(settled as never),
    })
    expect(paymentResponse(undefined)).toEqual({})
  })
})
