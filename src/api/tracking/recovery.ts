import type { OrderId } from '../../lib/ids.ts'
import { hashOf } from '../../secrets/tokens.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { FaultLog } from '../deps.ts'
import type { OrderTrackingDeps } from './deps.ts'
import { linkToken, type TokenDeps } from './tokens.ts'

/** 32 digits and capitals that cannot be mistaken for one another, five bits each. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const maxLetters = 12

/**
 * A code that opens one order, short enough to write down. It has 60 bits, derived from the order's number with a key
 * of the store, so it is not stored. It is for buyers who lost the private link and have no wallet to sign in with.
 */
export function recoveryCodeOf({ codes }: Pick<OrderTrackingDeps, 'codes'>, id: OrderId): string {
  return grouped(lettersOf(codes.of(id)))
}

/** A link token for the order in exchange for its code; undefined for every other text. */
export function linkTokenForCode(
  deps: TokenDeps & Pick<OrderTrackingDeps, 'codes'>,
  id: OrderId,
  text: string,
): string | undefined {
  const typed = text.toUpperCase().replace(/[\s-]/g, '')
  const isCode = deps.codes.every(id).some((digest) => lettersOf(digest) === typed)
  return isCode ? linkToken(deps, id) : undefined
}

/**
 * A link token for the order in exchange for the idempotency key of its purchase: for a browser that has paid and never
 * got the first answer with the access token.
 *
 * @throws Refusal `try_again`
 */
export async function linkTokenForKey(
  deps: TokenDeps & Pick<OrderTrackingDeps, 'orders'>,
  id: OrderId,
  key: string,
  log: FaultLog,
): Promise<string | undefined> {
  const isKey = await orNotNow(log, () => deps.orders.hasKey(id, [hashOf(key)]))
  return isKey ? linkToken(deps, id) : undefined
}

function lettersOf(digest: string): string {
  const bytes = Buffer.from(digest, 'hex').subarray(0, maxLetters)
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
}

function grouped(letters: string): string {
  return letters.replaceAll(/(.{4})(?=.)/g, '$1-')
}
