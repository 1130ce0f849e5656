import { type Usdc, usdc } from '../lib/money.ts'
import type { Network } from './networks.ts'
import { same, type X402Payment } from './payment.ts'
import type { PaymentPayload, Terms } from './x402.ts'

export interface Payee {
  readonly network: Network
  readonly payTo: string
  /** Earlier addresses. The store accepts no payment there now, but an authorization to one may have landed. */
  readonly earlier?: readonly string[]
}

/** The payee on each network that the store accepts, the preferred one first. */
export type Payees = readonly [Payee, ...Payee[]]

/** The same price on each network; a buyer signs one of them. */
export type Accepts = readonly [Terms, ...Terms[]]

export function payeeOn(payees: Payees, network: string): Payee | undefined {
  return payees.find((one) => one.network.id === network)
}

/** How many seconds a price is kept and a payment may take (docs/contributors/decisions/003). */
export const termsValidSeconds = 300

/** The same amount always gives the same terms. @param quote our signed promise, which the buyer echoes */
export function termsOf(amount: Usdc, payee: Payee, quote?: string): Terms {
  return {
    scheme: 'exact',
    network: payee.network.id,
    asset: payee.network.usdc,
    amount: amount.toString(),
    payTo: payee.payTo,
    maxTimeoutSeconds: termsValidSeconds,
    extra: { ...payee.network.usdcDomain, ...(quote === undefined ? {} : { quote }) },
  }
}

export function acceptsOf(amount: Usdc, [first, ...others]: Payees, quote?: string): Accepts {
  return [termsOf(amount, first, quote), ...others.map((payee) => termsOf(amount, payee, quote))]
}

export type Acceptance =
  | { readonly type: 'tender'; readonly tender: X402Payment }
  | { readonly type: 'mismatch'; readonly code: string; readonly reason: string }

/** The rail refuses an authorization with fewer seconds left, after checking whether it has already landed. */
export const minValiditySeconds = 30
/** Seconds. An unused authorization can be submitted until it expires, and its order waits until then. */
export const maxValiditySeconds = 600

/** Only cheap checks: the rail checks the signature and the wallet. */
export function accept(
  payment: PaymentPayload,
  amount: Usdc,
  payees: Payees,
  now: Date,
): Acceptance {
  const { accepted } = payment
  const payee = payeeOn(payees, accepted.network) ?? payees[0]
  const fault =
    termsFault(accepted, termsOf(amount, payee)) ?? authorizationFault(payment, amount, payee, now)
  return fault === undefined
    ? { type: 'tender', tender: tenderOf(payment, amount, payee) }
    : { type: 'mismatch', ...fault }
}

/** It may have landed on any network where it would pay this store, at a present or an earlier address. */
export function signedTo(payees: Payees, payment: PaymentPayload): readonly X402Payment[] {
  const { to, value } = payment.payload.authorization
  return payees.flatMap((payee) => {
    const payTo = [payee.payTo, ...(payee.earlier ?? [])].find((one) => same(to, one))
    return payTo === undefined ? [] : [tenderOf(payment, usdc(value), { ...payee, payTo })]
  })
}

export function hasEnded({ validBefore }: Pick<X402Payment, 'validBefore'>, now: Date): boolean {
  return validBefore * 1_000 <= now.getTime()
}

function tenderOf({ payload }: PaymentPayload, amount: Usdc, payee: Payee): X402Payment {
  const { authorization, signature } = payload
  return {
    rail: 'x402',
    network: payee.network.id,
    asset: payee.network.usdc,
    payTo: payee.payTo,
    payer: authorization.from,
    amount,
    nonce: authorization.nonce,
    validAfter: Number(authorization.validAfter),
    validBefore: Number(authorization.validBefore),
    signature,
    sinceBlock: 0,
  }
}

type Fault = { readonly code: string; readonly reason: string }

const compared = ['scheme', 'network', 'asset', 'payTo', 'amount', 'maxTimeoutSeconds'] as const

function termsFault(accepted: Terms, terms: Terms): Fault | undefined {
  const name = compared.find((each) => !same(String(accepted[each]), String(terms[each])))
  return (
    name && mismatch(`accepted.${name} is ${accepted[name]}; this purchase asks for ${terms[name]}`)
  )
}

function authorizationFault(
  { payload: { authorization } }: PaymentPayload,
  amount: Usdc,
  payee: Payee,
  now: Date,
): Fault | undefined {
  const nowSeconds = Math.floor(now.getTime() / 1_000)
  const left = Number(authorization.validBefore) - nowSeconds
  if (!same(authorization.to, payee.payTo)) {
    return mismatch(
      `the authorization pays ${authorization.to}; this store is paid at ${payee.payTo}`,
    )
  }
  // It would move nothing. And since no refund goes to this address, no refund can pass for a payment.
  if (same(authorization.from, payee.payTo)) {
    return mismatch('the authorization is from the address that this store is paid at')
  }
  if (authorization.value !== amount.toString()) {
    return mismatch(
      `the authorization is for ${authorization.value}; this purchase costs ${amount}`,
    )
  }
  if (left > maxValiditySeconds) {
    const reason = `the authorization holds for ${left} s; at most ${maxValiditySeconds} s are taken`
    return { code: 'valid_too_long', reason }
  }
  return undefined
}

function mismatch(reason: string): Fault {
  return { code: 'payment_mismatch', reason }
}
