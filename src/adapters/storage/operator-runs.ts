import {
  type LastRun,
  type LastRuns,
  type RecurringAct,
  type RunResult,
  recurringActs,
} from '../../operations/ports.ts'
import type { Database } from './database.ts'

/** Notes the end of a run, at the time of the database. */
export async function noteRun(
  database: Database,
  what: RecurringAct,
  result: RunResult,
): Promise<void> {
  await database.query('insert into operator_runs (what, result) values ($1, $2)', [what, result])
}

const lastSql = `
  select what,
    coalesce((select ended_at from operator_runs run where run.what = act.what and result <> 'failed'
      order by ended_at desc limit 1), (select claimed_at from store_identity)) as "endedAt",
    (select result from operator_runs run where run.what = act.what
      order by ended_at desc limit 1) as result
  from unnest($1::text[]) as act (what)`

export async function lastRuns(database: Database): Promise<LastRuns> {
  const { rows } = await database.query<LastRun & { what: RecurringAct }>(lastSql, [recurringActs])
  return new Map(rows.map(({ what, ...run }) => [what, run]))
}
