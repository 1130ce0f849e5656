import type { Checkout } from '../../checkouts/checkout.ts'
import { hashOf, sameHash } from '../../secrets/tokens.ts'
import { orderOfPass, type PassDeps } from '../following/passes.ts'

/** Whether this is the token of the checkout, or a pass for its order. */
export function opensCheckout(
  deps: PassDeps,
  { orderId, accessTokenHash }: Checkout,
  opener: string | undefined,
): boolean {
  if (opener === undefined) return false
  return orderOfPass(deps, opener) === orderId || sameHash(hashOf(opener), accessTokenHash)
}
