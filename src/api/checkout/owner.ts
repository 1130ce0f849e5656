import type { Checkout } from '../../checkouts/checkout.ts'
import { hashOf, sameHash } from '../../secrets/tokens.ts'
import { orderOfLinkToken, type TokenDeps } from '../tracking/tokens.ts'

/** Whether this is the token of the checkout, or a link token of its order. */
export function opensCheckout(
  deps: TokenDeps,
  { orderId, accessTokenHash }: Checkout,
  token: string | undefined,
): boolean {
  if (token === undefined) return false
  return orderOfLinkToken(deps, token) === orderId || sameHash(hashOf(token), accessTokenHash)
}
