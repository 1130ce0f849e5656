import pg from 'pg'

/** Runs one statement on a connection of its own, and returns its rows. */
export async function query(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client(url)
  await client.connect().catch((cause: Error) => {
    throw new Error(`The database for ${sql}: ${cause.message}`, { cause })
  })
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}
