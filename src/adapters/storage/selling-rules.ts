import type { SellingRule } from '../../catalog/selling-rules.ts'
import type { Database } from './database.ts'

export interface PlacedRule extends SellingRule {
  /** When it ends by itself. */
  readonly until: Date | null
  readonly by: string
  readonly at: Date
  readonly reason: string
}

export type NewRule = Pick<PlacedRule, 'scope' | 'effect' | 'until' | 'reason'>

const isInForce = '(until is null or until > clock_timestamp())'
const columns = 'id, scope, effect, until, placed_by as by, placed_at as at, reason'

/** Those in force, the oldest first. */
export async function listRules(database: Database): Promise<readonly PlacedRule[]> {
  const sql = `select ${columns} from selling_rules where ${isInForce} order by id`
  return (await database.query<PlacedRule>(sql)).rows
}

/** Until the transaction ends, nobody else adds or ends a rule, and everybody goes on reading them. */
export async function lockRules(database: Database): Promise<void> {
  await database.query('lock table selling_rules in share row exclusive mode')
}

export async function addRules(
  database: Database,
  rules: readonly NewRule[],
  by: string,
): Promise<readonly PlacedRule[]> {
  const { rows } = await database.query<PlacedRule>(
    `insert into selling_rules (scope, effect, until, reason, placed_by)
     select scope, effect, until, reason, $2
     from rows from (jsonb_to_recordset($1) as (scope jsonb, effect jsonb, until timestamptz, reason text))
       with ordinality as one
     order by ordinality
     returning ${columns}`,
    [JSON.stringify(rules), by],
  )
  return rows
}

/** The audit keeps them. */
export async function endRules(database: Database, ids: readonly number[]): Promise<void> {
  await database.query('delete from selling_rules where id = any($1::integer[])', [ids])
}
