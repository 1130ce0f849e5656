import type { Pool } from 'pg'
import { type AuditEntry, noteAct } from '../adapters/storage/audit.ts'
import { type Database, inTransaction } from '../adapters/storage/database.ts'

/**
 * Does the work and notes it in one transaction, so what cannot be noted is not done either.
 *
 * @param entry or what makes it of the result; undefined where nothing was changed after all
 */
export function audited<T>(
  { database, by }: { readonly database: Pool; readonly by: string },
  entry: AuditEntry | ((done: T) => AuditEntry | undefined),
  work: (client: Database) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (client) => {
    const done = await work(client)
    const noted = typeof entry === 'function' ? entry(done) : entry
    if (noted) await noteAct(client, by, noted)
    return done
  })
}
