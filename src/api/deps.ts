import type { LiveCatalog } from '../catalog/catalog.ts'
import type { Pricing } from '../catalog/pricing.ts'
import type { OrderStore } from '../orders/ports.ts'
import type { PurchaseDeps } from '../orders/purchase.ts'
import type { LimitsDeps } from '../orders/spending-limits/keep.ts'
import type { WebhookStore } from '../orders/webhooks/ports.ts'
import type { Digest, Signer, SigningKeys, Vault } from '../secrets/secrets.ts'
import type { SignInDeps } from './buying/credentials.ts'
import type { PaymentRequiredDeps } from './buying/payment-required.ts'

/** The dependencies of everything that only reads the catalog. */
export interface ReadDeps {
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  readonly site: Site
}

/** The dependencies of selling, and of showing and refunding orders, for all transports. */
export interface BuyingDeps {
  readonly site: Site
  readonly demands: PaymentRequiredDeps
  readonly receipts: ReceiptDeps
  readonly purchases: PurchaseDeps
  readonly orders: OrderStore
  readonly webhooks: Pick<WebhookStore, 'find' | 'redeliver'>
  /** The limits that wallets set themselves. */
  readonly guardrails: LimitsDeps
  readonly signIn: SignInDeps
  /** Signs the links that show the goods of an order once. */
  readonly reveals: Signer
  /** Signs the tokens that list the orders of a wallet. */
  readonly listSigner: Signer
}

/** The dependencies of signing the receipt of an order. */
export interface ReceiptDeps {
  readonly site: Site
  readonly vault: Vault
  readonly keys: SigningKeys
  /** Makes the salt of an order, so that it need not be stored. */
  readonly salts: Pick<Digest, 'of'>
  readonly now: () => Date
}

/** The log for our own faults while a caller is served. */
export interface FaultLog {
  error(details: object, message: string): void
}

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
