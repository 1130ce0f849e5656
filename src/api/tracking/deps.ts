import type { CheckoutStore } from '../../checkouts/ports.ts'
import type { Digest, Signer } from '../../secrets/tokens.ts'
import type { BuyingDeps } from '../deps.ts'

type CheckoutFinder = Pick<
  CheckoutStore,
  'find' | 'findByOrder' | 'findByTransaction' | 'findByAddress'
>

/** What it takes to show a person what became of an order. */
export interface OrderTrackingDeps
  extends Pick<BuyingDeps, 'site' | 'orders' | 'purchases' | 'signIn' | 'receipts'> {
  /** Signs what opens orders again: for a wallet that signed in, and for a mail. */
  readonly tokenSigner: Signer
  /** Keyed, for codes that open one order each. */
  readonly codes: Digest
  /** What coins are paid through; absent where none can be. */
  readonly checkouts?: CheckoutFinder | undefined
  /** Where a transaction on the store's own chain can be looked at; its hash is appended. */
  readonly explorer?: string | undefined
}
