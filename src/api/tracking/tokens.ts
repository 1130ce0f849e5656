import { randomUUID } from 'node:crypto'
import type { OrderId } from '../../lib/ids.ts'
import { isRecoveryCode } from '../../orders/finding.ts'
import { hashOf, issueToken, readToken, type Signer } from '../../secrets/secrets.ts'
import type { BuyingDeps, SignInDeps } from '../operation.ts'

/** Tokens that open orders for a limited time: a link token is in a link of a mail, a session token in a cookie. */
const orderPrefix = 'kop_'
const walletPrefix = 'kwp_'
export const linkTokenDays = 7
export const sessionSeconds = 3_600

export interface PageCredentials {
  readonly token?: string | undefined
  readonly wallet?: string | undefined
}

export interface TokenDeps {
  readonly tokenSigner: Signer
  readonly purchases: { readonly now: () => Date }
}

interface SessionDeps extends TokenDeps {
  readonly signIn: Pick<SignInDeps, 'nonces'>
}

export function linkToken(deps: TokenDeps, id: OrderId): string {
  return issue(deps, orderPrefix, [id], linkTokenDays * 86_400)
}

export function daysLeftOf(deps: TokenDeps, token: string | undefined): number | undefined {
  const left = validIn(deps, orderPrefix, token)?.left
  return left && Math.ceil(left / 86_400_000)
}

/** The access token alone: nothing that outlasts a link token or a session is given for them. */
export function lastingIn({ token }: PageCredentials): PageCredentials {
  return token?.startsWith(orderPrefix) ? {} : { token }
}

export function isOutdatedLinkToken(
  deps: TokenDeps,
  token: string | undefined,
  id: string,
): boolean {
  const signed = readToken(deps.tokenSigner, orderPrefix, token)
  return signed?.names[0] === id && orderOfLinkToken(deps, token) === undefined
}

export function sessionToken(deps: TokenDeps, wallet: string): string {
  return issue(deps, walletPrefix, [wallet, `session:${randomUUID()}`], sessionSeconds)
}

export function orderOfLinkToken(deps: TokenDeps, token: string | undefined): string | undefined {
  return validIn(deps, orderPrefix, token)?.name
}

/** Undefined after the session has ended, or if there is none. */
export async function walletOfSession(
  deps: SessionDeps,
  token: string | undefined,
): Promise<string | undefined> {
  const session = validIn(deps, walletPrefix, token)
  const hasEnded = session && (await deps.signIn.nonces.isUsed(session.id))
  return hasEnded ? undefined : session?.name
}

/** A copy of the token opens nothing any more. */
export async function endSession(deps: SessionDeps, token: string | undefined): Promise<void> {
  const session = validIn(deps, walletPrefix, token)
  if (session) await deps.signIn.nonces.useOnce(session.id, session.expiresAt)
}

function issue(
  { tokenSigner, purchases }: TokenDeps,
  prefix: string,
  names: readonly string[],
  seconds: number,
) {
  const expiresAt = new Date(purchases.now().getTime() + seconds * 1_000)
  return issueToken(tokenSigner, prefix, { names, expiresAt })
}

function validIn({ tokenSigner, purchases }: TokenDeps, prefix: string, token: string | undefined) {
  const signed = readToken(tokenSigner, prefix, token)
  if (signed === undefined) return undefined
  const { names, expiresAt } = signed
  const [name, id = ''] = names
  const left = expiresAt.getTime() - purchases.now().getTime()
  return left > 0 ? { name, id, expiresAt, left } : undefined
}

export function linkTokenForCode(
  deps: TokenDeps & Parameters<typeof isRecoveryCode>[0],
  id: OrderId,
  text: string,
): string | undefined {
  return isRecoveryCode(deps, id, text) ? linkToken(deps, id) : undefined
}

/** For a browser that has paid and never got the first answer. */
export async function linkTokenForKey(
  deps: TokenDeps & Pick<BuyingDeps, 'orders'>,
  id: OrderId,
  key: string,
): Promise<string | undefined> {
  const isKey = await deps.orders.hasKey(id, [hashOf(key)])
  return isKey ? linkToken(deps, id) : undefined
}
