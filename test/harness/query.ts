import pg from 'pg'

/** Runs one statement on a connection of its own, and returns its rows. */
export async function query(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client(url)
  // A server that is killed fails the statement. Without a listener, the event would end the process as well.
  client.on('error', () => undefined)
  await client.connect().catch((cause: Error) => {
    throw new Error(`The database for ${sql}: ${cause.message}`, { cause })
  })
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}
