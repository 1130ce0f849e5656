import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import type { Database } from './database.ts'

/** What was done to the store. `before` and `after` hold neither codes nor personal fields. */
export interface AuditEntry {
  /** As it is typed: `price set`. */
  readonly act: string
  /** `order:ord_...`, `brand:APPLE`, `refunds`. */
  readonly subject: string
  readonly before?: unknown
  readonly after?: unknown
  readonly reason?: string | undefined
}

const noteSql = `
  insert into audit.acts (by, act, subject, before, after, reason) values ($1, $2, $3, $4, $5, $6)`

/** @throws if it is not on record afterwards */
export async function noteAct(
  database: Database,
  by: string,
  { act, subject, before, after, reason }: AuditEntry,
): Promise<void> {
  const [was, is] = [before, after].map((value) =>
    value === undefined ? null : JSON.stringify(value),
  )
  await database.query(noteSql, [by, act, subject, was, is, reason ?? null])
}

export interface AuditFilter {
  readonly by?: string | null
  readonly subject?: string | null
  readonly limit: number
}

export interface AuditedAct extends AuditEntry {
  readonly at: Date
  readonly by: string
}

/** The newest first. */
export async function readActs(
  database: Database,
  { by = null, subject = null, limit }: AuditFilter,
): Promise<readonly AuditedAct[]> {
  const { rows } = await database.query<AuditedAct>(
    `select at, by, act, subject, before, after, reason from audit.acts
     where ($1::text is null or by = $1) and ($2::text is null or subject = $2)
     order by at desc, seq desc limit $3`,
    [by, subject, limit],
  )
  return rows
}

/** Texts by the names of variables; absent ones are null. */
type Settings = Readonly<Record<string, string | null>>

const settingsSql = "select after from audit.acts where act = 'settings' order by by = $1, seq"

/** Notes what a node starts with and did not have before; what it never had is compared with the other nodes. */
export async function noteSettings(pool: Database, node: string, now: Settings): Promise<void> {
  const by = `node ${node}`
  const { rows } = await pool.query<{ after: Settings }>(settingsSql, [by])
  const before: Settings = Object.assign({}, ...rows.map(({ after }) => after))
  const names = Object.keys({ ...before, ...now })
  const changed = names.filter((name) => (before[name] ?? null) !== (now[name] ?? null))
  if (changed.length === 0) return
  const of = (settings: Settings) =>
    Object.fromEntries(changed.map((name) => [name, settings[name] ?? null]))
  const was = rows.length > 0 ? of(before) : undefined
  await noteAct(pool, by, { act: 'settings', subject: by, before: was, after: of(now) })
}

const ownersSql = `
  select pg_get_userbyid(acts.relowner) as owner, me.rolsuper or me.rolcreaterole as "isAdministrator",
    pg_has_role(acts.relowner, 'member') or pg_has_role(audit.nspowner, 'member')
      or has_table_privilege(acts.oid, 'update, delete, truncate, trigger') as "isOwn"
  from pg_roles me
    left join pg_namespace audit on audit.nspname = 'audit'
    left join pg_class acts on acts.relnamespace = audit.oid and acts.relname = 'acts'
  where me.rolname = current_user`

interface Owners {
  readonly owner: string | null
  readonly isAdministrator: boolean
  readonly isOwn: boolean | null
}

async function ownersOf(database: Database): Promise<Owners> {
  const { rows } = await database.query<Owners>(ownersSql)
  return rows[0] ?? { owner: null, isAdministrator: false, isOwn: null }
}

/** What keeps the audit from being out of the reach of the store's own role. */
export async function auditProblem(database: Database): Promise<string | undefined> {
  const { owner, isAdministrator, isOwn } = await ownersOf(database)
  if (isAdministrator) {
    return (
      'the store signs in as a role that is a superuser or may create roles, so it could change its audit; ' +
      'give it a role of its own'
    )
  }
  if (owner !== null && isOwn === false) return undefined
  return (
    'the audit must belong to another role than the store signs in as; run once, as an administrator of ' +
    'the database: psql --dbname NAME --file - < deploy/audit.sql'
  )
}

/** Where no administrator has made the table, the store makes its own. */
export async function ensureAudit(client: pg.ClientBase): Promise<void> {
  const { owner } = await ownersOf(client as Database)
  if (owner !== null) return
  await client.query(await readFile(new URL('../../../deploy/audit.sql', import.meta.url), 'utf8'))
}
