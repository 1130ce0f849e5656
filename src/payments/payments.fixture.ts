import { type Usdc, usdc } from '../lib/money.ts'
import { networks } from './networks.ts'
import { type Payee, type PaymentPayload, type Terms, termsOf } from './terms.ts'

export const fixturePayee: Payee = {
  network: networks['base-sepolia'],
  payTo: '0x1111111111111111111111111111111111111111',
}
export const fixturePayer = '0x2222222222222222222222222222222222222222'

type Authorization = PaymentPayload['payload']['authorization']

/** A payment by the payer for these terms, signed by nobody. */
export function paymentFor(
  terms: Terms,
  now: Date,
  changes: Partial<Authorization> = {},
): PaymentPayload {
  const validBefore = Math.floor(now.getTime() / 1_000) + terms.maxTimeoutSeconds
  return {
    x402Version: 2,
    accepted: terms,
    payload: {
      signature: `0x${'4'.repeat(130)}`,
      authorization: {
        from: fixturePayer,
        to: terms.payTo,
        value: terms.amount,
        validAfter: '0',
        validBefore: String(validBefore),
        nonce: `0x${'3'.repeat(64)}`,
        ...changes,
      },
    },
  }
}

export function fixtureTerms(amount: Usdc = usdc('25000000')): Terms {
  return termsOf(amount, fixturePayee)
}

/** The payment with another authorization under the same signature. */
export function authorizedAs(
  payment: PaymentPayload,
  changes: Partial<Authorization>,
): PaymentPayload {
  const authorization = { ...payment.payload.authorization, ...changes }
  return { ...payment, payload: { ...payment.payload, authorization } }
}
