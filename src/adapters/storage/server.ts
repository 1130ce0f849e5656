import pg from 'pg'
import { StartRefused } from '../../lib/errors.ts'

/** The oldest PostgreSQL that still gets fixes, as `server_version_num`. */
const minVersion = 150_000

interface Server {
  readonly version: string
  readonly encoding: string
  readonly statementLimit: string
  readonly idleLimit: string
}

export async function requireServer(pool: pg.Pool): Promise<void> {
  const problems = problemsOf(await readServer(pool))
  if (problems.length > 0)
    throw new StartRefused(`This database cannot be used: ${problems.join('; ')}.`)
}

async function readServer(pool: pg.Pool): Promise<Partial<Server>> {
  const query = pool.query<Server>(
    `select current_setting('server_version_num') as version,
       current_setting('server_encoding') as encoding,
       current_setting('statement_timeout') as "statementLimit",
       current_setting('idle_in_transaction_session_timeout') as "idleLimit"`,
  )
  const { rows } = await query.catch((error: unknown) => {
    // `protocol_violation`
    const isRefused = error instanceof pg.DatabaseError && error.code === '08P01'
    throw isRefused && error.message.includes('startup parameter')
      ? new Error(refusedLimits, { cause: error })
      : error
  })
  return rows[0] ?? {}
}

const refusedLimits =
  'A pooler (pgbouncer says it so) refuses the time limits that the store asks for. Connect to PostgreSQL ' +
  'itself, or see docs/operators/scaling.md, "Poolers".'

function problemsOf({ version, encoding, statementLimit, idleLimit }: Partial<Server>): string[] {
  const unlimited = [
    ...(statementLimit === '0' ? ['statement_timeout'] : []),
    ...(idleLimit === '0' ? ['idle_in_transaction_session_timeout'] : []),
  ]
  return [
    ...(Number(version) < minVersion ? ['it is older than PostgreSQL 15'] : []),
    ...(encoding === 'UTF8'
      ? []
      : [`its encoding is ${encoding}, which cannot hold every delivery: make it with UTF8`]),
    ...(unlimited.length === 0
      ? []
      : [
          `it has no ${unlimited.join(' and no ')} though the store asks for one: a pooler may be leaving it out`,
        ]),
  ]
}
