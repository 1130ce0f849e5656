import { Refusal } from '../lib/refusal.ts'

/**
 * Whom the store sells nothing to, and pays back only through a person: wallets, addresses of coins, and what
 * names a receiver (a phone number, an e-mail address, an ICCID), as the operator has listed them
 * (docs/operators/operations.md). All in lower case.
 */
export interface Denylist {
  readonly has: (party: string) => boolean
}

export function isDenied(denylist: Denylist, party: string): boolean {
  return denylist.has(party.toLowerCase())
}

/**
 * Refuses a purchase for whoever is on the list. The answer names neither the reason nor whom it concerns.
 *
 * @param party undefined if the purchase names nobody
 * @throws Refusal `purchase_declined`
 */
export function requireNotDenied(
  { denylist }: { readonly denylist: Denylist },
  party: string | undefined,
): void {
  if (party === undefined || !isDenied(denylist, party)) return
  throw new Refusal('purchase_declined', 'The store declines this purchase.', { charged: 'no' })
}
