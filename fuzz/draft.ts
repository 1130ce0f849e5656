/** A request before it is serialised, in parts that can be mutated one by one. */
export interface Draft {
  /** The use of the store that it began as; answers are counted by it. */
  readonly name: string
  readonly method: string
  readonly path: string
  /** Names and values, already encoded for the URL. */
  readonly query: readonly Pair[]
  readonly headers: readonly Pair[]
  /** The value to send as JSON; undefined for no body. */
  readonly body?: unknown
  /** The values of `PAYMENT-SIGNATURE` and `SIGN-IN-WITH-X`, before JSON and base64. */
  readonly payment?: unknown
  readonly signIn?: unknown
}

export type Pair = readonly [name: string, value: string]

/**
 * The parts of good requests that must come from the store under test, because it signs prices, quotes and
 * challenges.
 */
export interface Material {
  /** `127.0.0.1:port`. */
  readonly host: string
  /** A validly signed payment for each kind, from a wallet without funds. */
  readonly unpaid: Readonly<Record<Kind, unknown>>
  /** The public data of a paid and delivered order, with its payment. No answer may contain its goods. */
  readonly paid: {
    readonly kind: Kind
    readonly body: unknown
    readonly payment: unknown
    readonly orderId: string
    readonly paymentId: string
    readonly transactionHash: string
  }
  /** A fresh challenge of the store, signed by another wallet than the one it names. */
  readonly signIn: unknown
  readonly webhook: { readonly header: string; readonly value: string }
}

export type Kind = 'voucher' | 'topup' | 'esim'
export const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
