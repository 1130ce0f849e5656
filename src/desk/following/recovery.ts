import type { OrderId } from '../../primitives/ids.ts'
import { hashOf } from '../../secrets/tokens.ts'
import type { FaultLog } from '../buying/deps.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { FollowDeps } from './deps.ts'
import { orderPass, type PassDeps } from './passes.ts'

/** Digits and capitals that nobody takes for one another: 32 of them, five bits each. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const lettersMost = 12

/**
 * A code that opens one order, short enough to be written down: 60 bits, made of the order's number with a
 * key of the store, so that it is stored nowhere. It is for whoever has lost the private link and has no
 * wallet to sign in with.
 */
export function recoveryCodeOf({ codes }: Pick<FollowDeps, 'codes'>, id: OrderId): string {
  return grouped(lettersOf(codes.of(id)))
}

/** A pass for the order, for whoever has its code; undefined for every other text. */
export function passForCode(
  deps: PassDeps & Pick<FollowDeps, 'codes'>,
  id: OrderId,
  text: string,
): string | undefined {
  const typed = text.toUpperCase().replace(/[\s-]/g, '')
  const isCode = deps.codes.every(id).some((digest) => lettersOf(digest) === typed)
  return isCode ? orderPass(deps, id) : undefined
}

/**
 * A pass for the order, for whoever has the idempotency key that it was bought with: a browser that has
 * paid, and to which the first answer with the access token never came.
 *
 * @throws Refusal `try_again`
 */
export async function passForKey(
  deps: PassDeps & Pick<FollowDeps, 'orders'>,
  id: OrderId,
  key: string,
  log: FaultLog,
): Promise<string | undefined> {
  const isKey = await orNotNow(log, () => deps.orders.hasKey(id, [hashOf(key)]))
  return isKey ? orderPass(deps, id) : undefined
}

function lettersOf(digest: string): string {
  const bytes = Buffer.from(digest, 'hex').subarray(0, lettersMost)
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
}

function grouped(letters: string): string {
  return letters.replaceAll(/(.{4})(?=.)/g, '$1-')
}
