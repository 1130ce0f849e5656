import { ownerOf } from '../payments/coins.ts'
import type { Digest } from '../secrets/secrets.ts'

/** Whom the store sells nothing to and pays back only through a person, by identity (docs/operators/screening.md). */
export interface Denylist {
  readonly has: (identity: string) => boolean
}

const erased = 'erased'

/** A person on the list who had their personal fields erased is known by a keyed digest alone. */
export function erasedParty(digest: string): string {
  return `${erased}${digest}`
}

/** @param identities as they are listed: some may be of erased persons */
export function denylistOf(identities: readonly string[], digest: Pick<Digest, 'every'>): Denylist {
  const listed = new Set(identities)
  const hasErased = identities.some((identity) => identity.startsWith(erased))
  const isErased = (identity: string) =>
    personDigests(digest, identity).some((one) => listed.has(erasedParty(one)))
  return { has: (identity) => listed.has(identity) || (hasErased && isErased(identity)) }
}

/** Under which a person is kept with their orders. @param identity see `identityOf` */
export function personDigest({ of }: Pick<Digest, 'of'>, identity: string): string {
  return shortDigest(of(`person:${identity}`))
}

/** The same under each key of the store. */
export function personDigests(
  { every }: Pick<Digest, 'every'>,
  identity: string,
): readonly string[] {
  return every(`person:${identity}`).map(shortDigest)
}

/** 128 bits tell all that a store will ever have apart. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 32)
}

export function isDenied(denylist: Denylist, party: string): boolean {
  return denylist.has(identityOf(party))
}

/**
 * The same text for all spellings of one party, because each spelling costs nothing: the key behind an address, the
 * mailbox behind an e-mail address, and any other text in lower case.
 */
export function identityOf(text: string): string {
  const owner = ownerOf(text)
  if (owner !== undefined && owner !== 'mistyped') return owner
  return mailboxOf(text.toLowerCase()) ?? text.toLowerCase()
}

/** Without dots and what follows a plus (RFC 5233): large providers deliver all of these to one mailbox. */
function mailboxOf(address: string): string | undefined {
  const [, local = '', domain = ''] = /^([^+@]+)[^@]*@([^@]+)$/.exec(address) ?? []
  if (domain === '') return undefined
  return `${local.replaceAll('.', '')}@${domain === 'googlemail.com' ? 'gmail.com' : domain}`
}
