import { randomBytes } from 'node:crypto'
import type { Kind } from '../../src/catalog/offer.ts'

/** What is sent to an operation. */
export interface Ask {
  /** By name, for the braces of its path. */
  readonly params?: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
}

/**
 * Where a call goes: to the store; to it from an address that asked too often; to a store that reaches
 * neither its database nor the chain nor exchange rates; to one with a defect; to one for which the
 * network is too expensive.
 */
export type Place = 'open' | 'busy' | 'away' | 'broken' | 'dear'

/** A call whose real answer is an example in the document. */
export interface Call {
  /** The id of the operation. */
  readonly operation: string
  /** Its name among the examples of the operation; of a refusal, the code. */
  readonly name: string
  readonly summary: string
  readonly status: number
  readonly code?: string
  readonly at?: Place
  readonly ask: (shop: Shop) => Ask | Promise<Ask>
}

/** An order, with all that its buyer knows of it. */
export interface Bought {
  readonly orderId: string
  readonly paymentId: string
  readonly transactionHash: string
  readonly accessToken: string
  /** What bought it. */
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** How the test offer of an order ends. */
export type Outcome = 'OK' | 'FAIL' | 'HANG'

/** A request that is signed for as a whole: the signature is for what it would do. */
export interface SignedRequest {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  readonly body?: object
}

/** What a call can be made of. What takes time is done once and given again. */
export interface Shop {
  /** An order that has come to its end: delivered, refunded, or expired with its refund held back. */
  readonly bought: (kind: Kind, outcome: Outcome) => Promise<Bought>
  /** A new `PAYMENT-SIGNATURE` of the wallet that bought, for what this body costs. */
  readonly paymentAgain: (kind: Kind, body: object) => Promise<string>
  /** A new `PAYMENT-SIGNATURE` of another wallet, for what this body costs. */
  readonly payment: (kind: Kind, body: object, amount?: string) => Promise<string>
  /** The `PAYMENT-SIGNATURE` for a good body, signed before the store that is away lost its database. */
  readonly paymentAway: (kind: Kind) => Promise<string>
  /** A `SIGN-IN-WITH-X` of the wallet that bought, for this path. */
  readonly signIn: (path: string, at?: Place, request?: SignedRequest) => Promise<string>
  /** An order whose payment is not proven; it is until the next one is bought. */
  readonly unproven: () => Promise<string>
  /** A new `PAYMENT-SIGNATURE` for this body, by a wallet whose spending limit is lower. */
  readonly limitedPayment: (kind: Kind, body: object) => Promise<string>
  /** A new `PAYMENT-SIGNATURE` for this body, by a wallet whose purchases a person approves. */
  readonly carefulPayment: (kind: Kind, body: object) => Promise<string>
  /** One whose purchase a person has declined. */
  readonly declinedPayment: (kind: Kind, body: object) => Promise<string>
  /** A new `PAYMENT-SIGNATURE` for this body, by a wallet whose orders came to nothing. */
  readonly spentPayment: (kind: Kind, body: object) => Promise<string>
  /** The headers of a claim for the refund of this order that was taken. */
  readonly claimed: (orderId: string) => Promise<Record<string, string>>
  /** Claims the refund of this order until it may be claimed no more. */
  readonly claimedOften: (orderId: string) => Promise<void>
  /** The good body of an offer that is not sold where the exchange rates are away. */
  readonly unsold: (kind: Kind) => Promise<object>
}

/** The body that buys a test offer. */
export function bodyOf(kind: Kind, outcome: Outcome = 'OK'): Record<string, unknown> {
  return { offerId: `TEST-${kind.toUpperCase()}-${outcome}`, ...recipients[kind] }
}

const recipients: Readonly<Record<Kind, object>> = {
  voucher: { firstName: 'Ada', lastName: 'Lovelace' },
  topup: { msisdn: '+12025550123' },
  esim: { webhookUrl: 'https://hooks.example.com/orders' },
}

/** The fields of a body, as a quote takes them. */
export function queryOf(fields: object): string {
  return new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
}

/** An idempotency key that no other call uses. */
export function newKey(): { readonly 'idempotency-key': string } {
  return { 'idempotency-key': `example-${randomBytes(12).toString('hex')}` }
}
