import pg from 'pg'

/** The rows of one statement, asked over a connection of its own. */
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
