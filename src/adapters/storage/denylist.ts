import type { Database } from './database.ts'

/** Who is on the denylist, as `Denylist` spells them. */
export async function readDenylist(database: Database): Promise<readonly string[]> {
  const { rows } = await database.query<{ party: string }>('select party from denylist')
  return rows.map(({ party }) => party)
}

/** An entry of the denylist, for the operator. */
export interface DenylistEntry {
  readonly party: string
  readonly reason: string
  readonly changed_by: string
  readonly changed_at: Date
}

/** The denylist, oldest entry first. */
export async function listDenied(database: Database): Promise<readonly DenylistEntry[]> {
  const sql =
    'select party, reason, changed_by, changed_at from denylist order by changed_at, party'
  return (await database.query<DenylistEntry>(sql)).rows
}

/** A change of the denylist. */
export interface DenylistChange {
  readonly parties: readonly string[]
  readonly isDenied: boolean
  readonly reason: string
  readonly by: string
}

const changeSql = `
  insert into denylist_changes (party, is_denied, reason, changed_by)
  select party, $2, $3, $4 from unnest($1::text[]) as party
  where exists (select from denylist where denylist.party = party.party) <> $2
  returning party`

/** Puts parties on the denylist, or takes them off. Returns those for which that changed anything. */
export async function changeDenylist(
  database: Database,
  { parties, isDenied, reason, by }: DenylistChange,
): Promise<readonly string[]> {
  const values = [parties, isDenied, reason, by]
  const { rows } = await database.query<{ party: string }>(changeSql, values)
  return rows.map(({ party }) => party)
}
