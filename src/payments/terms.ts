import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { OfferId } from '../lib/ids.ts'
import { type Cents, type Usdc, usdc } from '../lib/money.ts'
import type { Signer } from '../secrets/secrets.ts'
import type { Network } from './networks.ts'
import { same, type X402Payment } from './payment.ts'

export interface Payee {
  readonly network: Network
  readonly payTo: string
  /** Earlier addresses. The store accepts no payment there now, but an authorization to one may have landed. */
  readonly earlier?: readonly string[]
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

type Acceptance =
  | { readonly type: 'payment'; readonly payment: X402Payment }
  | { readonly type: 'mismatch'; readonly code: string; readonly reason: string }

/** The method refuses an authorization with fewer seconds left, after checking whether it has already landed. */
export const minValiditySeconds = 30
/** Seconds. An unused authorization can be submitted until it expires, and its order waits until then. */
export const maxValiditySeconds = 600

/** Only cheap checks: the method checks the signature and the wallet. */
export function accept(payment: PaymentPayload, amount: Usdc, payee: Payee, now: Date): Acceptance {
  const fault =
    termsFault(payment.accepted, termsOf(amount, payee)) ??
    authorizationFault(payment, amount, payee, now)
  return fault === undefined
    ? { type: 'payment', payment: paymentOf(payment, amount, payee) }
    : { type: 'mismatch', ...fault }
}

/** What it would pay this store, at its present or an earlier address; undefined if it pays somebody else. */
export function signedTo(payee: Payee, payment: PaymentPayload): X402Payment | undefined {
  const { to, value } = payment.payload.authorization
  const payTo = [payee.payTo, ...(payee.earlier ?? [])].find((one) => same(to, one))
  return payTo === undefined ? undefined : paymentOf(payment, usdc(value), { ...payee, payTo })
}

export function hasEnded({ validBefore }: Pick<X402Payment, 'validBefore'>, now: Date): boolean {
  return validBefore * 1_000 <= now.getTime()
}

function paymentOf({ payload }: PaymentPayload, amount: Usdc, payee: Payee): X402Payment {
  const { authorization, signature } = payload
  return {
    method: 'x402',
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

/** The payload of x402, version 2. All is bounded, because an attacker may write it; ERC-6492 takes 2,000 bytes. */
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const bytes32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/)
const atomic = z.string().regex(/^\d{1,30}$/)
const seconds = z.string().regex(/^\d{1,12}$/)

/** The name of a chain, a token or an address: printable ASCII, because the database takes no null character. */
const name = z.string().regex(/^[\x20-\x7e]{0,80}$/)

export const Terms = z.object({
  scheme: name,
  network: name,
  asset: name,
  amount: atomic,
  payTo: name,
  maxTimeoutSeconds: z.number().int().positive(),
  extra: z.record(z.string(), z.unknown()),
})
export type Terms = z.infer<typeof Terms>

const Authorization = z.object({
  from: address,
  to: address,
  value: atomic,
  validAfter: seconds,
  validBefore: seconds,
  nonce: bytes32,
})

export const PaymentPayload = z.object({
  x402Version: z.literal(2),
  accepted: Terms,
  payload: z.object({
    signature: z
      .string()
      .max(6_000)
      .regex(/^0x([0-9a-fA-F]{2})+$/),
    authorization: Authorization,
  }),
  extensions: z.record(z.string(), z.unknown()).optional(),
})
export type PaymentPayload = z.infer<typeof PaymentPayload>

/** The buyer carries the signed promise: a call without a payment stores nothing (docs/contributors/decisions/003). */
export interface Quotes {
  promise(what: Quoted, amount: Usdc): string
  /** The amount promised for exactly this, or undefined if no promise of ours holds. */
  promised(text: unknown, what: Quoted): Usdc | undefined
  /** For how many more seconds this promise of ours holds; 0 if it is not ours or has expired. */
  secondsLeft(text: unknown): number
}

/** What a price is promised for. If any of it changes, the same price would buy something else. */
export interface Quoted {
  readonly offer: OfferId
  readonly value: Cents | undefined
  /** The currencies of the offer's price and of its face value, with their smallest units. */
  readonly units: string
}

/** A digest of what is quoted, atomic amount, and until when, in epoch seconds. */
type Promised = readonly [string, string, number]

export function createQuotes(signer: Signer, now: () => Date): Quotes {
  const seconds = () => Math.floor(now().getTime() / 1_000)
  // The signer reads only what it has signed, so the shape needs no second check.
  const readPromise = (text: unknown) =>
    typeof text === 'string' ? (signer.verify(text) as Promised | undefined) : undefined
  return {
    promise(what, amount) {
      const until = seconds() + termsValidSeconds
      const promised: Promised = [digestOf(what), amount.toString(), until]
      return signer.sign(promised)
    },

    promised(text, what) {
      const promised = readPromise(text)
      if (!promised) return undefined
      const [quoted, amount, until] = promised
      return quoted === digestOf(what) && until >= seconds() ? usdc(amount) : undefined
    },

    secondsLeft(text) {
      const until = readPromise(text)?.[2] ?? 0
      return Math.max(0, until - seconds())
    },
  }
}

/** Always of the same length, because the promise travels in a header. */
function digestOf({ offer, value, units }: Quoted): string {
  const text = JSON.stringify([offer, value ?? null, units])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
