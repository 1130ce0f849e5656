/** Who runs this store, as the operator configured it and as every interface publishes it. */
export interface Site {
  readonly name: string
  readonly description: string
  /** Where the store is reached from outside, without a slash at the end. */
  readonly url: string
  readonly logo: string
  /** An e-mail address. */
  readonly contact: string
  /** Symbols out of BTC, ETH, USDT, LTC, XMR. */
  readonly acceptsCrypto: readonly string[]
}
