import type { Database } from './database.ts'

/** The oldest PostgreSQL that gets fixes from its makers. */
const versionLeast = 150_000

/**
 * Makes sure that the server is one that the store can rely on, whatever stands between.
 *
 * @throws Error with a sentence for each thing that is wrong
 */
export async function requireServer(database: Database): Promise<void> {
  const { rows } = await database.query<Record<'version' | 'encoding' | 'limit', string>>(
    `select current_setting('server_version_num') as version,
       current_setting('server_encoding') as encoding, current_setting('statement_timeout') as limit`,
  )
  const { version, encoding, limit } = rows[0] ?? {}
  const problems = [
    ...(Number(version) < versionLeast ? ['it is older than PostgreSQL 15'] : []),
    ...(encoding === 'UTF8'
      ? []
      : [`its encoding is ${encoding}, which cannot hold every delivery: make it with UTF8`]),
    ...(limit === '0'
      ? [
          'it has no statement_timeout though the store asks for one: a pooler may be leaving it out',
        ]
      : []),
  ]
  if (problems.length > 0)
    throw new Error(`This database is none for a store: ${problems.join('; ')}.`)
}
