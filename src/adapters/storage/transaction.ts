import type { Pool } from 'pg'
import type { Database } from './database.ts'

/** Runs `work` in one transaction. */
export async function atOnce<T>(pool: Pool, work: (client: Database) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const done = await work(client as Database)
    await client.query('commit')
    client.release()
    return done
  } catch (error) {
    // Closes the connection, which rolls back the transaction.
    client.release(true)
    throw error
  }
}
