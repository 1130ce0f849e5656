import type { Pool } from 'pg'
import type { Database } from './database.ts'

/** Runs these statements in one transaction: all of them count, or none does. */
export async function atOnce<T>(pool: Pool, work: (client: Database) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const done = await work(client as Database)
    await client.query('commit')
    client.release()
    return done
  } catch (error) {
    // The connection is closed, which rolls back whatever was begun on it.
    client.release(true)
    throw error
  }
}
