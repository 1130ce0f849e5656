import type { OrderId } from '../../lib/ids.ts'
import { type Digest, hashOf, type Signer } from '../../secrets/tokens.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { BuyingDeps, FaultLog } from '../deps.ts'

/**
 * Tokens that open orders for a limited time, while the access token of the first answer does not expire. They are
 * signed and not stored: a link token is in a link of a mail, a session token in a cookie.
 */
const orderPrefix = 'kop_'
const walletPrefix = 'kwp_'

/** The credentials of a visitor to the page of an order. */
export interface PageCredentials {
  /** The access token of the order, or a link token. */
  readonly token?: string | undefined
  /** A session token. */
  readonly wallet?: string | undefined
}

export interface TokenDeps {
  readonly tokenSigner: Signer
  readonly purchases: { readonly now: () => Date }
}

/** The validity of a link in a mail; a new one can be requested at any time. */
export const linkTokenDays = 7
/** The validity of a wallet's session. */
export const sessionSeconds = 3_600

type Named = readonly [prefix: string, name: string, until: number]

/** Opens this order to its bearer. */
export function linkToken(deps: TokenDeps, id: OrderId): string {
  return issue(deps, orderPrefix, id, linkTokenDays * 86_400)
}

/** The days until a link token expires, rounded up; undefined if it is not valid. */
export function daysLeftOf(deps: TokenDeps, token: string | undefined): number | undefined {
  const named = namedIn(deps, orderPrefix, token)
  if (named === undefined) return undefined
  const [, , until] = named
  return Math.ceil((until - deps.purchases.now().getTime() / 1_000) / 86_400)
}

/** The same credentials without a link token, which does not prove that the visitor is the buyer. */
export function withoutLinkToken(credentials: PageCredentials): PageCredentials {
  return credentials.token?.startsWith(orderPrefix) ? { wallet: credentials.wallet } : credentials
}

/** Whether this is an expired link token of this order. */
export function isOutdatedLinkToken(
  deps: TokenDeps,
  token: string | undefined,
  id: string,
): boolean {
  const [, name] = signedIn(deps, orderPrefix, token) ?? []
  return name === id && orderOfLinkToken(deps, token) === undefined
}

/** Opens every order that this wallet paid for. */
export function sessionToken(deps: TokenDeps, wallet: string): string {
  return issue(deps, walletPrefix, wallet, sessionSeconds)
}

/** The order that a link token opens; undefined if it is not valid or has expired. */
export function orderOfLinkToken(deps: TokenDeps, token: string | undefined): string | undefined {
  return read(deps, orderPrefix, token)
}

/** The wallet of a session token; undefined if it is not valid or has expired. */
export function walletOfSession(deps: TokenDeps, token: string | undefined): string | undefined {
  return read(deps, walletPrefix, token)
}

function issue(
  { tokenSigner, purchases }: TokenDeps,
  prefix: string,
  name: string,
  seconds: number,
) {
  const until = Math.floor(purchases.now().getTime() / 1_000) + seconds
  const named: Named = [prefix, name, until]
  return `${prefix}${tokenSigner.sign(named)}`
}

function read(deps: TokenDeps, prefix: string, token: string | undefined): string | undefined {
  return namedIn(deps, prefix, token)?.[1]
}

function namedIn(deps: TokenDeps, prefix: string, token: string | undefined) {
  const named = signedIn(deps, prefix, token)
  return named && named[2] * 1_000 > deps.purchases.now().getTime() ? named : undefined
}

/** The content of a token that we signed, even if it has expired. */
function signedIn({ tokenSigner }: TokenDeps, prefix: string, token: string | undefined) {
  if (!token?.startsWith(prefix)) return undefined
  // The signer returns only what we have signed, so its shape needs no check.
  const named = tokenSigner.read(token.slice(prefix.length)) as Named | undefined
  return named?.[0] === prefix ? named : undefined
}

/** The keyed digest from which recovery codes are derived. */
interface CodeDeps {
  readonly codes: Digest
}

/** 32 digits and capitals that cannot be mistaken for one another, five bits each. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const maxLetters = 12

/**
 * A code that opens one order, short enough to write down. It has 60 bits, derived from the order's number with a key
 * of the store, so it is not stored. It is for buyers who lost the private link and have no wallet to sign in with.
 */
export function recoveryCodeOf({ codes }: CodeDeps, id: OrderId): string {
  return grouped(lettersOf(codes.of(id)))
}

/** A link token for the order in exchange for its code; undefined for every other text. */
export function linkTokenForCode(
  deps: TokenDeps & CodeDeps,
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
  deps: TokenDeps & Pick<BuyingDeps, 'orders'>,
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
