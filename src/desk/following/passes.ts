import type { OrderId } from '../../primitives/ids.ts'
import type { Signer } from '../../secrets/tokens.ts'
import type { Opener } from './sight.ts'

/**
 * Passes open orders for a while, as the access token of the first answer does for ever. They are
 * signed and not stored: an order pass stands in a link of a mail, a wallet pass in a cookie.
 */
const orderPrefix = 'kop_'
const walletPrefix = 'kwp_'

export interface PassDeps {
  readonly passes: Signer
  readonly purchases: { readonly now: () => Date }
}

/** A link that came by mail works for this long; a new one can always be asked for. */
export const orderPassDays = 7
/** A wallet that signed in opens its orders for this long. */
export const walletPassSeconds = 3_600

type Named = readonly [prefix: string, name: string, until: number]

/** Opens this order to whoever brings it. */
export function orderPass(deps: PassDeps, id: OrderId): string {
  return issue(deps, orderPrefix, id, orderPassDays * 86_400)
}

/** For how many days more a pass opens its order, begun ones counted; undefined where it opens none. */
export function daysLeftOf(deps: PassDeps, pass: string | undefined): number | undefined {
  const named = namedIn(deps, orderPrefix, pass)
  if (named === undefined) return undefined
  const [, , until] = named
  return Math.ceil((until - deps.purchases.now().getTime() / 1_000) / 86_400)
}

/** What is brought, without a pass: whether it shows that the order is the bringer's own. */
export function withoutPass(opener: Opener): Opener {
  return opener.token?.startsWith(orderPrefix) ? { wallet: opener.wallet } : opener
}

/** Whether this pass has opened this order, and does no more; anything else never did. */
export function isOldPass(deps: PassDeps, pass: string | undefined, id: string): boolean {
  const [, name] = signedIn(deps, orderPrefix, pass) ?? []
  return name === id && orderOfPass(deps, pass) === undefined
}

/** Opens every order that this wallet paid for. */
export function walletPass(deps: PassDeps, wallet: string): string {
  return issue(deps, walletPrefix, wallet, walletPassSeconds)
}

/** The order that a pass opens; undefined where it is none, or too old. */
export function orderOfPass(deps: PassDeps, pass: string | undefined): string | undefined {
  return read(deps, orderPrefix, pass)
}

/** The wallet that a pass was given to. */
export function walletOfPass(deps: PassDeps, pass: string | undefined): string | undefined {
  return read(deps, walletPrefix, pass)
}

function issue({ passes, purchases }: PassDeps, prefix: string, name: string, seconds: number) {
  const until = Math.floor(purchases.now().getTime() / 1_000) + seconds
  const named: Named = [prefix, name, until]
  return `${prefix}${passes.sign(named)}`
}

function read(deps: PassDeps, prefix: string, pass: string | undefined): string | undefined {
  return namedIn(deps, prefix, pass)?.[1]
}

function namedIn(deps: PassDeps, prefix: string, pass: string | undefined) {
  const named = signedIn(deps, prefix, pass)
  return named && named[2] * 1_000 > deps.purchases.now().getTime() ? named : undefined
}

/** What we signed, however long ago. */
function signedIn({ passes }: PassDeps, prefix: string, pass: string | undefined) {
  if (!pass?.startsWith(prefix)) return undefined
  // What the signer reads is what we signed, so its shape needs no second check.
  const named = passes.read(pass.slice(prefix.length)) as Named | undefined
  return named?.[0] === prefix ? named : undefined
}
