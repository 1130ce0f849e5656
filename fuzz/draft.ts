/** A request before it is bytes, in parts that can be changed one by one. */
export interface Draft {
  /** Which way of using the store it began as; figures are counted by it. */
  readonly name: string
  readonly method: string
  readonly path: string
  /** Names and values, encoded as they will stand in the address. */
  readonly query: readonly Pair[]
  readonly headers: readonly Pair[]
  /** JSON to be; undefined for none. */
  readonly body?: unknown
  /** What `PAYMENT-SIGNATURE` and `SIGN-IN-WITH-X` will hold in base64. */
  readonly payment?: unknown
  readonly signIn?: unknown
}

export type Pair = readonly [name: string, value: string]

/**
 * What good requests are made of besides words: it comes from the store under test, because prices,
 * promises and challenges are signed by it.
 */
export interface Material {
  /** `127.0.0.1:port`. */
  readonly host: string
  /** Payments for each kind, rightly signed by a wallet that holds nothing. */
  readonly unpaid: Readonly<Record<Kind, unknown>>
  /** What anyone can read of an order that was paid and delivered. Its goods must never come out. */
  readonly paid: {
    readonly kind: Kind
    readonly body: unknown
    readonly payment: unknown
    readonly orderId: string
    readonly paymentId: string
    readonly transactionHash: string
  }
  /** A fresh challenge of the store, answered by another wallet than it names. */
  readonly signIn: unknown
  readonly webhook: { readonly header: string; readonly value: string }
}

export type Kind = 'voucher' | 'topup' | 'esim'
export const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
