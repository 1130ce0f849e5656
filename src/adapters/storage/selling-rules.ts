import type { Effect, Scope, SellingRule } from '../../catalog/selling-rules.ts'
import type { Database } from './database.ts'

export interface RecordedRule extends SellingRule {
  readonly placedBy: string
  readonly placedAt: Date
  readonly why: string
  readonly ended?: { readonly at: Date; readonly by: string; readonly why: string }
}

export type NewRule = Omit<SellingRule, 'id'> & { readonly why: string }

interface Row {
  readonly id: string
  readonly scope: Scope['type']
  readonly scope_key: string
  readonly effect: Effect['type']
  readonly bps: number | null
  readonly cents: number | null
  readonly text: string | null
  readonly until: Date | null
  readonly why: string
  readonly placed_by: string
  readonly placed_at: Date
  readonly ended_at: Date | null
  readonly ended_by: string | null
  readonly ended_why: string | null
}

const isInForce = 'ended_at is null and (until is null or until > clock_timestamp())'

/** The oldest first. @param of without it, also those that have ended */
export async function listRules(
  database: Database,
  of: 'in force' | 'all' = 'in force',
): Promise<readonly RecordedRule[]> {
  const where = of === 'all' ? '' : `where ${isInForce}`
  const { rows } = await database.query<Row>(`select * from selling_rules ${where} order by id`)
  return rows.map(ruleOf)
}

/** Whether other rules are in force: they are added in the order of their ids (`lockRules`), and end for good. */
export async function stateOfRules(database: Database): Promise<string> {
  const { rows } = await database.query<{ state: string }>(
    `select count(*) || ' to ' || coalesce(max(id), 0) as state from selling_rules where ${isInForce}`,
  )
  return rows[0]?.state ?? ''
}

/** Until the transaction ends, nobody else adds or ends a rule, and everybody goes on reading them. */
export async function lockRules(database: Database): Promise<void> {
  await database.query('lock table selling_rules in share row exclusive mode')
}

export async function addRules(
  database: Database,
  rules: readonly NewRule[],
  by: string,
): Promise<readonly RecordedRule[]> {
  const columns = rules.map(({ scope, effect, until, why }) => ({
    scope: scope.type,
    scope_key: scope.key,
    effect: effect.type,
    bps: 'bps' in effect ? effect.bps : null,
    cents: 'cents' in effect ? effect.cents : null,
    text: 'text' in effect ? effect.text : null,
    until,
    why,
  }))
  const { rows } = await database.query<Row>(
    `insert into selling_rules (scope, scope_key, effect, bps, cents, text, until, why, placed_by)
     select scope, scope_key, effect, bps, cents, text, until, why, $2
     from rows from (jsonb_to_recordset($1) as (scope text, scope_key text, effect text, bps integer,
       cents integer, text text, until timestamptz, why text)) with ordinality as one
     order by ordinality
     returning *`,
    [JSON.stringify(columns), by],
  )
  return rows.map(ruleOf)
}

/** Returns the rules that it ended: not those that others have ended before. */
export async function endRules(
  database: Database,
  ids: readonly number[],
  { by, why }: { readonly by: string; readonly why: string },
): Promise<readonly RecordedRule[]> {
  const { rows } = await database.query<Row>(
    `update selling_rules set ended_at = clock_timestamp(), ended_by = $2, ended_why = $3
     where id = any($1::bigint[]) and ${isInForce} returning *`,
    [ids, by, why],
  )
  return rows.map(ruleOf)
}

function ruleOf(row: Row): RecordedRule {
  const { id, scope, scope_key, until, why, placed_by, placed_at, ended_at } = row
  return {
    id: Number(id),
    scope: { type: scope, key: scope_key },
    effect: effectOf(row),
    ...(until === null ? {} : { until }),
    placedBy: placed_by,
    placedAt: placed_at,
    why,
    ...(ended_at === null
      ? {}
      : { ended: { at: ended_at, by: row.ended_by ?? '', why: row.ended_why ?? '' } }),
  }
}

function effectOf({ effect: type, bps, cents, text }: Row): Effect {
  switch (type) {
    case 'margin':
    case 'least_margin':
      return { type, bps: bps ?? 0, cents: cents ?? 0 }
    case 'name':
    case 'description':
    case 'picture':
      return { type, text: text ?? '' }
    default:
      return { type }
  }
}
