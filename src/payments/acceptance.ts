import type { Usdc } from '../primitives/money.ts'
import type { X402Tender } from './payment.ts'
import { type Till, termsOf } from './terms.ts'
import type { PaymentPayload } from './x402.ts'

/** A payment that is for these terms, or what is wrong with it, for the buyer to read. */
export type Acceptance =
  | { readonly type: 'tender'; readonly tender: X402Tender }
  | { readonly type: 'mismatch'; readonly code: string; readonly reason: string }

/** Below this an authorization may run out while it is on its way; seconds. */
const leastValiditySeconds = 30
/** Above this, "it will never come" could not be proven within the time a refund may take; seconds. */
const mostValiditySeconds = 3_600

/**
 * Whether the payment is for exactly these terms: not less and not more, not another store, not
 * another coin. Only cheap checks; the signature and the wallet are the rail's to check.
 */
export function accept(payment: PaymentPayload, amount: Usdc, till: Till, now: Date): Acceptance {
  const { accepted, payload } = payment
  const { authorization, signature } = payload
  const fault =
    termsFault(accepted, termsOf(amount, till)) ?? authorizationFault(payment, amount, till, now)
  if (fault) return { type: 'mismatch', ...fault }
  return {
    type: 'tender',
    tender: {
      rail: 'x402',
      network: till.network.id,
      asset: till.network.usdc,
      payTo: till.payTo,
      payer: authorization.from,
      amount,
      nonce: authorization.nonce,
      validAfter: Number(authorization.validAfter),
      validBefore: Number(authorization.validBefore),
      signature,
      sinceBlock: 0,
    },
  }
}

type Fault = { readonly code: string; readonly reason: string }

function termsFault(
  accepted: PaymentPayload['accepted'],
  terms: PaymentPayload['accepted'],
): Fault | undefined {
  for (const name of [
    'scheme',
    'network',
    'asset',
    'payTo',
    'amount',
    'maxTimeoutSeconds',
  ] as const) {
    if (String(accepted[name]).toLowerCase() !== String(terms[name]).toLowerCase()) {
      return mismatch(
        `accepted.${name} is ${accepted[name]}; this purchase asks for ${terms[name]}`,
      )
    }
  }
  return undefined
}

function authorizationFault(
  { payload: { authorization } }: PaymentPayload,
  amount: Usdc,
  till: Till,
  now: Date,
): Fault | undefined {
  const nowSeconds = Math.floor(now.getTime() / 1_000)
  const left = Number(authorization.validBefore) - nowSeconds
  if (authorization.to.toLowerCase() !== till.payTo.toLowerCase()) {
    return mismatch(
      `the authorization pays ${authorization.to}; this store is paid at ${till.payTo}`,
    )
  }
  // It would move nothing. It also keeps every refund from being a payment: none goes to this address.
  if (authorization.from.toLowerCase() === till.payTo.toLowerCase()) {
    return mismatch('the authorization is from the address that this store is paid at')
  }
  if (authorization.value !== amount.toString()) {
    return mismatch(
      `the authorization is for ${authorization.value}; this purchase costs ${amount}`,
    )
  }
  if (left < leastValiditySeconds) {
    const reason = `the authorization ends in ${Math.max(0, left)} s; it must hold for at least ${leastValiditySeconds} s`
    return { code: 'expired', reason }
  }
  if (left > mostValiditySeconds) {
    const reason = `the authorization holds for ${left} s; at most ${mostValiditySeconds} s are taken`
    return { code: 'valid_too_long', reason }
  }
  return undefined
}

function mismatch(reason: string): Fault {
  return { code: 'payment_mismatch', reason }
}
