import type { CheckoutService } from '../../api/checkout.ts'
import type { OrderId } from '../../lib/ids.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Payee } from '../../payments/terms.ts'

/** US dollars for one of a coin as last heard, for a look; undefined where it is not known. */
export type CoinRates = (coin: Coin) => string | undefined

/** Notes an address with an order that is about to be paid. It sends nothing. */
export interface LeaveMail {
  /** The address in the form in which it is compared; undefined if the text is not an address. */
  read(text: string): string | undefined
  leave(id: OrderId, address: string): Promise<void>
}

/** What people pay through. */
export interface PayingDeps {
  /** Absent where the operator has configured no processor. */
  readonly checkout?: CheckoutService | undefined
  /** Sends links to orders; absent where the store sends no mail. */
  readonly leaveMail?: LeaveMail | undefined
  /** What a person writes down to open an order without its link. */
  readonly recoveryCode?: ((id: OrderId) => string) | undefined
  /** Where a wallet pays in USDC. */
  readonly payee: Payee
  readonly rates?: CoinRates | undefined
  /** Only in the sandbox: where the page is that pays an invoice with test money. */
  readonly sandboxPayUrl?: ((invoice: string) => string) | undefined
}
