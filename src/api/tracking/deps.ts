import type { CheckoutStore } from '../../checkouts/ports.ts'
import type { Digest, Signer } from '../../secrets/tokens.ts'
import type { BuyingDeps } from '../deps.ts'

type CheckoutFinder = Pick<
  CheckoutStore,
  'find' | 'findByOrder' | 'findByTransaction' | 'findByAddress'
>

/** The dependencies of the pages that show a person the state of an order. */
export interface OrderTrackingDeps
  extends Pick<BuyingDeps, 'site' | 'orders' | 'purchases' | 'signIn' | 'receipts'> {
  /** Signs session tokens and link tokens. */
  readonly tokenSigner: Signer
  /** A keyed digest, for recovery codes. */
  readonly codes: Digest
  /** Absent if coins cannot be paid. */
  readonly checkouts?: CheckoutFinder | undefined
  /** The explorer's URL of transactions on the store's own chain; the hash is appended. */
  readonly explorer?: string | undefined
}
