import type { OrderStore } from '../../orders/ports.ts'
import type { PurchaseDeps } from '../../orders/purchase.ts'
import type { LimitsDeps } from '../../orders/spending-limits/keep.ts'
import type { WebhookStore } from '../../orders/webhooks/ports.ts'
import type { Signer } from '../../secrets/tokens.ts'
import type { Site } from '../site.ts'
import type { ReceiptDeps } from '../views/receipt.ts'
import type { PaymentRequiredDeps } from './payment-required.ts'
import type { SignInDeps } from './sign-in.ts'

/** What it takes to sell, and to show and refund orders, whatever the transport. */
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

/** Where the operator hears what went wrong in our house while a caller was served. */
export interface FaultLog {
  error(details: object, message: string): void
}
