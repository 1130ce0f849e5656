import type { CheckoutStore } from '../../checkouts/ports.ts'
import type { Signer } from '../../secrets/tokens.ts'
import type { BuyingDeps } from '../buying/deps.ts'

/** What it takes to show a person what became of an order. */
export interface FollowDeps
  extends Pick<BuyingDeps, 'site' | 'orders' | 'purchases' | 'signIn' | 'receipts'> {
  /** Signs what opens orders again: for a wallet that signed in, and for a mail. */
  readonly passes: Signer
  /** What coins are paid through; absent where none can be. */
  readonly checkouts?: Pick<CheckoutStore, 'findByOrder' | 'findByTransaction'> | undefined
  /** Where a transaction on the store's own chain can be looked at; its hash is appended. */
  readonly explorer?: string | undefined
}
