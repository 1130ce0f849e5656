import { changeDenylist, listDenied } from '../adapters/storage/store.ts'
import { identityOf } from '../orders/denylist.ts'
import { audited } from './audit.ts'
import type { Operator } from './operator.ts'

interface Denied {
  readonly party: string
  readonly reason: string
  readonly by: string
  readonly since: Date
}

/** Whom the store sells nothing to; the first listed first. */
export async function denied({ database }: Pick<Operator, 'database'>): Promise<readonly Denied[]> {
  const entries = await listDenied(database)
  return entries.map(({ party, reason, changed_by: by, changed_at: since }) => {
    return { party, reason, by, since }
  })
}

export interface ListedParties {
  readonly isDenied: boolean
  /** In any spelling of the same party. */
  readonly parties: readonly string[]
  readonly reason: string
}

/** In force on all nodes within seconds. */
export async function changeDenied(
  operator: Pick<Operator, 'database' | 'by'>,
  { isDenied, parties, reason }: ListedParties,
): Promise<readonly { party: string; isDenied: boolean; isChanged: boolean }[]> {
  const act = isDenied ? 'denylist add' : 'denylist remove'
  const named = parties.map((party) => ({ party, identity: identityOf(party) }))
  const change = { parties: named, isDenied, reason, by: operator.by }
  // Whom it was about stands in the denylist: a party may be a person.
  const entry = ({ length }: readonly string[]) =>
    length > 0 ? { act, subject: 'denylist', after: { parties: length }, reason } : undefined
  const changed = await audited(operator, entry, (client) => changeDenylist(client, change))
  return parties.map((party) => ({ party, isDenied, isChanged: changed.includes(party) }))
}
