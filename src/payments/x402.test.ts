import { expect, test } from 'vitest'
import { paymentKeyOf } from './payment.ts'
import { fixtureTerms, paymentFor } from './payments.fixture.ts'
import { PaymentPayload } from './terms.ts'

const good = paymentFor(fixtureTerms(), new Date('2026-01-05T12:00:00Z'))
const { authorization } = good.payload

function signedAs(signature: unknown) {
  return { ...good, payload: { ...good.payload, signature } }
}
function authorizedAs(changes: object) {
  return { ...good, payload: { ...good.payload, authorization: { ...authorization, ...changes } } }
}

test('a payment is read as it is, and what else the buyer adds is left out', () => {
  const added = { ...good, resource: { url: 'https://elsewhere.example' }, more: 1 }
  expect(PaymentPayload.parse(added)).toEqual(good)
})

test.each([
  ['version 1', { ...good, x402Version: 1 }],
  ['no version', { ...good, x402Version: undefined }],
  ['no terms', { ...good, accepted: undefined }],
  ['a null in the network', { ...good, accepted: { ...good.accepted, network: 'eip155:\0' } }],
  ['half a character as asset', { ...good, accepted: { ...good.accepted, asset: '\ud800' } }],
  ['terms without extra', { ...good, accepted: { ...good.accepted, extra: undefined } }],
  ['a float as timeout', { ...good, accepted: { ...good.accepted, maxTimeoutSeconds: 1.5 } }],
  ['a number as amount', { ...good, accepted: { ...good.accepted, amount: 25_000_000 } }],
  ['no payload', { ...good, payload: undefined }],
  ['a payload without authorization', { ...good, payload: { signature: good.payload.signature } }],
  ['a permit2 payload', { ...good, payload: { signature: '0x12', permit2Authorization: {} } }],
  ['a signature that is none', signedAs('0x')],
  ['half a byte of signature', signedAs('0x123')],
  ['a signature without 0x', signedAs('1234')],
  ['a signature of 3 kB', signedAs(`0x${'12'.repeat(3_000)}`)],
  ['a short address', authorizedAs({ from: '0x12' })],
  ['a name as address', authorizedAs({ to: 'vitalik.eth' })],
  ['a negative value', authorizedAs({ value: '-1' })],
  ['a hexadecimal value', authorizedAs({ value: '0x10' })],
  ['a value of 31 digits', authorizedAs({ value: '9'.repeat(31) })],
  ['an end of 13 digits', authorizedAs({ validBefore: '9'.repeat(13) })],
  ['a number as end', authorizedAs({ validBefore: 1_767_614_700 })],
  ['a short nonce', authorizedAs({ nonce: '0x12' })],
  ['extensions that are a list', { ...good, extensions: [] }],
])('%s is no payment', (_, payment) => {
  expect(PaymentPayload.safeParse(payment).success).toBe(false)
})

test('a payment has one name, however its addresses are written', () => {
  const payment = { network: 'eip155:84532', asset: '0xAb', payer: '0xCd', nonce: '0xEf' }
  const shouted = { network: 'EIP155:84532', asset: '0XAB', payer: '0XCD', nonce: '0XEF' }
  expect(paymentKeyOf(shouted)).toBe(paymentKeyOf(payment))
  for (const name of ['network', 'asset', 'payer', 'nonce'] as const) {
    expect(paymentKeyOf({ ...payment, [name]: 'x' })).not.toBe(paymentKeyOf(payment))
  }
})
