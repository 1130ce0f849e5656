import type { Database } from './database.ts'

/** The list of what operators deny themselves; others are imported. */
export const byHand = 'hand'

/** The identities that any list denies; read again only after a change. */
export function denylistReader(database: Database): () => Promise<readonly string[]> {
  let last = { changes: '', identities: [] as readonly string[] }
  return async () => {
    const counted = await database.query('select count(*) as changes from denylist_changes')
    const { changes } = counted.rows[0]
    if (changes !== last.changes) {
      const { rows } = await database.query('select distinct identity from denylist')
      last = { changes, identities: rows.map(({ identity }) => identity) }
    }
    return last.identities
  }
}

/** Whom a list denies. */
export interface Listing {
  readonly party: string
  readonly identity: string
  readonly reason: string
}

export interface DenylistEntry extends Listing {
  readonly list: string
  readonly by: string
  readonly since: Date
}

/** The first listed first. */
export async function readDenied(database: Database): Promise<readonly DenylistEntry[]> {
  const { rows } = await database.query<DenylistEntry>(`
    select party, identity, list, reason, changed_by as by, changed_at as since from denylist
    order by changed_at, party`)
  return rows
}

export interface DenylistChange {
  readonly parties: readonly Listing[]
  readonly isDenied: boolean
  readonly list: string
  readonly by: string
}

const changeSql = `
  insert into denylist_changes (party, identity, reason, is_denied, list, changed_by)
  select party, identity, reason, $4, $5, $6
  from unnest($1::text[], $2::text[], $3::text[]) as one (party, identity, reason)
  where exists (select from denylist where denylist.identity = one.identity and list = $5) <> $4
  returning party`

/** Returns those that the list did not say so of before. */
export async function changeDenylist(
  database: Database,
  { parties, isDenied, list, by }: DenylistChange,
): Promise<readonly string[]> {
  const column = (name: keyof Listing) => parties.map((one) => one[name])
  const values = [column('party'), column('identity'), column('reason'), isDenied, list, by]
  const { rows } = await database.query<{ party: string }>(changeSql, values)
  return rows.map(({ party }) => party)
}
