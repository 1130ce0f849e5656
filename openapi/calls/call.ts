import { randomBytes } from 'node:crypto'
import type { Kind } from '../../src/catalog/offer.ts'

export interface Ask {
  readonly params?: Readonly<Record<string, string>>
  /** The query string, without the question mark. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown
}

/**
 * `busy`: the open store, from an address above its rate limit. `away`: one that reaches neither its database, nor the
 * chain, nor exchange rates. `broken`: one with a defect. `dear`: one for which the network's fees are too high.
 */
export type Place = 'open' | 'busy' | 'away' | 'broken' | 'dear'

export interface Call {
  readonly operation: string
  readonly name: string
  readonly summary: string
  readonly status: number
  readonly code?: string
  readonly at?: Place
  readonly ask: (shop: Shop) => Ask | Promise<Ask>
}

export interface Bought {
  readonly orderId: string
  readonly paymentId: string
  readonly transactionHash: string
  readonly accessToken: string
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

export type Outcome = 'OK' | 'FAIL' | 'HANG'

/** A request that the signature of its sign-in covers as a whole. */
export interface SignedRequest {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  readonly body?: object
}

/**
 * Whose wallet pays. `buyer`: the one that bought. `another`: a new one. `away`: of the buyer, signed for a good body
 * before the store at `away` lost its database. `limited`: one with a lower spending limit. `careful`: one whose
 * purchases need a person's approval, `declined` after the person has declined. `spent`: one that has spent its budget
 * of failed orders.
 */
export type Payer = 'buyer' | 'another' | 'away' | 'limited' | 'careful' | 'declined' | 'spent'

/** The orders, payments and signatures that calls are made of. Slow ones are made once and reused. */
export interface Shop {
  /** An order that has ended: delivered, refunded, or expired with its refund held back. */
  readonly bought: (kind: Kind, outcome: Outcome) => Promise<Bought>
  /** A new `PAYMENT-SIGNATURE` for the price of this body or for `amount`. */
  readonly payment: (kind: Kind, body: object, by?: Payer, amount?: string) => Promise<string>
  /** A `SIGN-IN-WITH-X` of the wallet that bought, for this path and, if given, this request. */
  readonly signIn: (path: string, at?: Place, request?: SignedRequest) => Promise<string>
  /** The id of an order whose payment is not proven yet. It stays so until the next purchase. */
  readonly unproven: () => Promise<string>
  /** The headers of an accepted refund claim for this order. */
  readonly claimed: (orderId: string) => Promise<Record<string, string>>
  /** Claims the refund of this order until the budget of claims is spent. */
  readonly claimedOften: (orderId: string) => Promise<void>
  /** A good body for a receiver on the denylist of the store. */
  readonly denied: (kind: Kind) => Promise<object>
  /** A good body for an offer that the store cannot sell without exchange rates. */
  readonly unsold: (kind: Kind) => Promise<object>
}

export function bodyOf(kind: Kind, outcome: Outcome = 'OK'): Record<string, unknown> {
  return { offerId: `TEST-${kind.toUpperCase()}-${outcome}`, ...recipients[kind] }
}

const recipients: Readonly<Record<Kind, object>> = {
  voucher: { firstName: 'Ada', lastName: 'Lovelace' },
  topup: { msisdn: '+12025550123' },
  esim: { webhookUrl: 'https://hooks.example.com/orders' },
}

export function queryOf(fields: object): string {
  return new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
}

export function newKey(): { readonly 'idempotency-key': string } {
  return { 'idempotency-key': `example-${randomBytes(12).toString('hex')}` }
}
