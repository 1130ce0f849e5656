import type { Pool } from 'pg'
import type { Database } from './database.ts'

/** A connection that breaks once: before the server has carried out the write, or after. */
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
