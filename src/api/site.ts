/** Who runs this store, as the operator configured it and as every interface publishes it. */
export interface Site {
  readonly name: string
  readonly description: string
  /** The public URL of the store, without a trailing slash. */
  readonly url: string
  readonly logo: string
  /** The colour of the website, `#rrggbb`; absent: ours. */
  readonly color?: string | undefined
  /** The terms of sale: their URL or their text. Absent: the operator gave none. */
  readonly terms?: { readonly url: string } | { readonly text: string } | undefined
  /** An e-mail address. */
  readonly contact: string
  /** Symbols from BTC, ETH, USDT, LTC, XMR. */
  readonly acceptsCrypto: readonly string[]
  /** Whether a store in live mode only rehearses, with money that is not real. */
  readonly isRehearsal?: boolean | undefined
}
