import { Refusal } from '../lib/refusal.ts'

/** Whom the store sells nothing to and pays back only through a person; in lower case (docs/operators/operations.md). */
export interface Denylist {
  readonly has: (party: string) => boolean
}

export function isDenied(denylist: Denylist, party: string): boolean {
  return denylist.has(party.toLowerCase())
}

/** The answer names neither the reason nor whom it concerns. @throws Refusal `purchase_declined` */
export function requireNotDenied(
  { denylist }: { readonly denylist: Denylist },
  party: string | undefined,
): void {
  if (party === undefined || !isDenied(denylist, party)) return
  throw new Refusal('purchase_declined', 'The store declines this purchase.', { charged: 'no' })
}
