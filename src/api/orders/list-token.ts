import { Refusal } from '../../lib/refusal.ts'
import type { BuyingDeps } from '../deps.ts'

/** The validity of a list token. */
export const listTokenHours = 2

/** Distinguishes a list token from the access token of an order, which is sent in the same header. */
const prefix = 'kol_'

/** The content of a list token: the wallet, and the expiry in epoch seconds. */
type Named = readonly [wallet: string, until: number]

type ListTokenDeps = Pick<BuyingDeps, 'listSigner' | 'purchases'>

/** A token that lists the orders of one wallet without further signatures. */
export interface ListToken {
  readonly token: string
  readonly expiresAt: string
}

/**
 * A list token for the wallet that has just signed in. It is signed and not stored, so it cannot be
 * revoked: it is short-lived, and opens no goods, because agents keep it where others may read it.
 */
export function listToken({ listSigner, purchases }: ListTokenDeps, wallet: string): ListToken {
  const until = Math.floor(purchases.now().getTime() / 1_000) + listTokenHours * 3_600
  const named: Named = [wallet, until]
  return {
    token: `${prefix}${listSigner.sign(named)}`,
    expiresAt: new Date(until * 1_000).toISOString(),
  }
}

/**
 * The wallet whose orders this token lists; undefined if it is not a list token.
 *
 * @throws Refusal `sign_in_invalid` for a list token that is expired or not from this store
 */
export function walletOfListToken(
  { listSigner, purchases }: ListTokenDeps,
  token: string | undefined,
): string | undefined {
  if (!token?.startsWith(prefix)) return undefined
  // The signer returns only what we have signed, so its shape needs no check.
  const named = listSigner.read(token.slice(prefix.length)) as Named | undefined
  if (named === undefined) throw invalid('it is not from this store')
  const [wallet, until] = named
  if (until * 1_000 <= purchases.now().getTime()) throw invalid('it has expired')
  return wallet
}

function invalid(why: string): Refusal {
  const message = `The list token is not accepted: ${why}. Sign in again for a new one.`
  return new Refusal('sign_in_invalid', message)
}
