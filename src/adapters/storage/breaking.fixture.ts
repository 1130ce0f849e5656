import type { Pool } from 'pg'
import type { Database } from './database.ts'

/** A database whose first statement fails with a broken connection, before or after the server carried it out. */
export function breakingOnce(pool: Pool, when: 'before' | 'after'): Database {
  let broken = false
  const query = async (sql: string, values: unknown[]) => {
    if (broken) return pool.query(sql, values)
    broken = true
    if (when === 'after') await pool.query(sql, values)
    throw new Error('Connection terminated unexpectedly')
  }
  return { query } as unknown as Database
}
