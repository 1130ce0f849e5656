import type { CheckoutService } from '../../api/checkout.ts'
import type { OrderId } from '../../lib/ids.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Payee } from '../../payments/terms.ts'

/** The last known price of one coin in US dollars, for estimates only; undefined if it is not known. */
export type CoinRates = (coin: Coin) => string | undefined

/** Stores a mail address with an order that is about to be paid. It sends nothing. */
export interface LeaveMail {
  /** The address in the form in which it is compared; undefined if the text is not an address. */
  read(text: string): string | undefined
  leave(id: OrderId, address: string): Promise<void>
}

/** The dependencies of paying. */
export interface PayingDeps {
  /** Absent where the operator has configured no processor. */
  readonly checkout?: CheckoutService | undefined
  /** Absent if the store sends no mail. */
  readonly leaveMail?: LeaveMail | undefined
  /** The recovery code of an order, which a person writes down to open it without its link. */
  readonly recoveryCode?: ((id: OrderId) => string) | undefined
  /** The network and the address to which wallets pay in USDC. */
  readonly payee: Payee
  readonly rates?: CoinRates | undefined
  /** Only in the sandbox: the URL of the page that pays an invoice with test money. */
  readonly sandboxPayUrl?: ((invoice: string) => string) | undefined
}
