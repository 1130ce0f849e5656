import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { usdc } from '../lib/money.ts'
import { fixturePayee, fixturePayer, fixtureTerms, paymentFor } from './payments.fixture.ts'
import { accept, type PaymentPayload, signedTo, type Terms } from './terms.ts'

const now = new Date('2026-01-05T12:00:00.900Z')
const nowSeconds = Math.floor(now.getTime() / 1_000)
const amount = usdc('25000000')
const good = paymentFor(fixtureTerms(amount), now)
const accepted = (payment: PaymentPayload) => accept(payment, amount, fixturePayee, now)

function withTerms(changes: Partial<Terms>): PaymentPayload {
  return { ...good, accepted: { ...good.accepted, ...changes } }
}

function withAuthorization(
  changes: Partial<PaymentPayload['payload']['authorization']>,
): PaymentPayload {
  return paymentFor(fixtureTerms(amount), now, changes)
}

describe('a payment for exactly these terms', () => {
  test('becomes a payment with the store’s own terms', () => {
    expect(accepted(good)).toEqual({
      type: 'payment',
      payment: {
        method: 'x402',
        network: 'eip155:84532',
        asset: fixturePayee.network.usdc,
        payTo: fixturePayee.payTo,
        payer: fixturePayer,
        amount,
        nonce: `0x${'3'.repeat(64)}`,
        validAfter: 0,
        validBefore: nowSeconds + 300,
        signature: `0x${'4'.repeat(130)}`,
        sinceBlock: 0,
      },
    })
  })

  test('may write addresses in any case; the payment has the store’s spelling', () => {
    const { asset, payTo } = good.accepted
    const shouted = withTerms({ asset: asset.toLowerCase(), payTo: payTo.toUpperCase() })
    expect(accepted(shouted)).toMatchObject({ payment: { asset: fixturePayee.network.usdc } })
  })

  test('may say more in extra than it was told', () => {
    expect(accepted(withTerms({ extra: { anything: 1 } }))).toMatchObject({ type: 'payment' })
  })
})

describe('a payment is refused by the name of what differs', () => {
  test.each<[keyof Terms, Partial<Terms>]>([
    ['scheme', { scheme: 'upto' }],
    ['network', { network: 'eip155:8453' }],
    ['asset', { asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
    ['payTo', { payTo: fixturePayer }],
    ['amount', { amount: '24999999' }],
    ['amount', { amount: '25000001' }],
    ['amount', { amount: '025000000' }],
    ['maxTimeoutSeconds', { maxTimeoutSeconds: 301 }],
  ])('accepted.%s', (name, changes) => {
    const answer = accepted(withTerms(changes))
    expect(answer).toMatchObject({
      type: 'mismatch',
      code: 'payment_mismatch',
      reason: expect.stringMatching(`^accepted\\.${name} is ${changes[name]}; .* asks for `),
    })
  })

  test('who is paid', () => {
    expect(accepted(withAuthorization({ to: fixturePayer }))).toMatchObject({
      code: 'payment_mismatch',
      reason: expect.stringContaining('the authorization pays'),
    })
  })

  test('who pays, when it is the store itself', () => {
    const own = fixturePayee.payTo.toUpperCase().replace('0X', '0x')
    expect(accepted(withAuthorization({ from: own }))).toMatchObject({
      code: 'payment_mismatch',
      reason: 'the authorization is from the address that this store is paid at',
    })
  })

  test.each(['24999999', '25000001', '0', '025000000', '999999999999999999999999999999'])(
    'the authorized value %s',
    (value) => {
      expect(accepted(withAuthorization({ value }))).toMatchObject({
        code: 'payment_mismatch',
        reason: expect.stringContaining(`is for ${value}`),
      })
    },
  )

  test.each([
    // The method decides that, once it has checked whether it was used.
    [-1_000, undefined],
    [30, undefined],
    [600, undefined],
    [601, 'valid_too_long'],
    [900_000_000_000, 'valid_too_long'],
  ])('an authorization that holds for %s s: %s', (left, code) => {
    const answer = accepted(withAuthorization({ validBefore: String(nowSeconds + left) }))
    expect(answer.type === 'mismatch' ? answer.code : undefined).toBe(code)
    if (answer.type === 'mismatch') expect(answer.reason).not.toContain('-')
  })
})

test('what was signed to an earlier address of the store may have paid it, and nothing is taken there', () => {
  const payment = withAuthorization({ to: fixturePayer })
  const payee = { ...fixturePayee, earlier: [fixturePayer] }
  expect(signedTo(fixturePayee, payment)).toBeUndefined()
  expect(signedTo(payee, payment)).toMatchObject({ payTo: fixturePayer })
  expect(accept(payment, amount, payee, now)).toMatchObject({ code: 'payment_mismatch' })
})

test('no amount but the exact one is ever taken', () => {
  const atomic = fc.bigInt({ min: 0n, max: 10n ** 12n })
  fc.assert(
    fc.property(atomic, atomic, (price, paid) => {
      const payment = paymentFor(fixtureTerms(usdc(paid)), now)
      const answer = accept(payment, usdc(price), fixturePayee, now)
      expect(answer.type).toBe(price === paid ? 'payment' : 'mismatch')
      const disguised = { ...payment, accepted: fixtureTerms(usdc(price)) }
      const other = accept(disguised, usdc(price), fixturePayee, now)
      expect(other.type).toBe(price === paid ? 'payment' : 'mismatch')
    }),
  )
})
