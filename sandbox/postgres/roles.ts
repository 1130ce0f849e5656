import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'

/** Owns the database and its tables, and can do nothing to the audit but add to it. */
const storeRole = 'kiosk402_store'

/**
 * Gives a database the two roles that an installed store has. Safe to repeat.
 *
 * @param adminUrl of the database, as the superuser
 * @returns its URL as the store signs in
 */
export async function separateRoles(adminUrl: string): Promise<string> {
  const url = new URL(adminUrl)
  const database = pg.escapeIdentifier(url.pathname.slice(1))
  const password = createHash('sha256').update(`store ${url.password}`).digest('base64url')
  const audit = await readFile(new URL('../../deploy/audit.sql', import.meta.url), 'utf8')
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [storeRole])
    if (rowCount === 0) await client.query(`create role ${storeRole} login`)
    await client.query(`alter role ${storeRole} password ${pg.escapeLiteral(password)};
      alter database ${database} owner to ${storeRole}; ${audit}`)
  } finally {
    await client.end()
  }
  url.username = storeRole
  url.password = password
  return url.href
}
