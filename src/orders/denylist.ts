import { ownerOf } from '../payments/coins.ts'

/** Whom the store sells nothing to and pays back only through a person, by identity (docs/operators/screening.md). */
export interface Denylist {
  readonly has: (identity: string) => boolean
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
