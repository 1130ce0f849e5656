import { same } from '../payments/payment.ts'
import { hashOf, sameHash } from '../secrets/tokens.ts'
import type { Order } from './order.ts'
import type { OrderStore } from './ports.ts'

/** What a caller shows to prove that an order is theirs. Nothing of it is on the chain, for everyone to read. */
export interface Viewer {
  /** The token of the first answer. */
  readonly accessToken?: string | undefined
  /** A wallet that has just signed in; proven before it gets here. */
  readonly wallet?: string | undefined
  /** Idempotency keys sent along. */
  readonly keys?: readonly string[] | undefined
}

/**
 * Whether this viewer gets the goods of this order. A repeated payment signature proves nothing: it is
 * public once the payment is on the chain (docs/contributors/decisions/005).
 */
export async function mayReveal(
  orders: Pick<OrderStore, 'hasKey'>,
  order: Order,
  viewer: Viewer,
): Promise<boolean> {
  const { accessToken, wallet, keys = [] } = viewer
  if (accessToken && sameHash(hashOf(accessToken), order.accessTokenHash)) return true
  if (wallet && same(wallet, order.tender.payer)) return true
  return keys.length > 0 && orders.hasKey(order.id, keys.map(hashOf))
}
