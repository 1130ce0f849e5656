import type { CheckoutDesk } from '../../desk/checkout/desk.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Till } from '../../payments/terms.ts'

/** US dollars for one of a coin as last heard, for a look; undefined where it is not known. */
export type CoinRates = (coin: Coin) => string | undefined

/** What people pay through. */
export interface PayingDeps {
  /** Absent where the operator has configured no processor. */
  readonly checkout?: CheckoutDesk | undefined
  /** Where a wallet pays in USDC. */
  readonly till: Till
  readonly rates?: CoinRates | undefined
  /** Only in the sandbox: where the page is that pays an invoice with test money. */
  readonly sandboxPayUrl?: ((invoice: string) => string) | undefined
}
