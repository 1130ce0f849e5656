import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

/** One step from the tables of one version of the store to those of the next. */
export interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
  /** The first step, if this is the second: a version that does not know the first cannot work after the second. */
  readonly needs: string | undefined
  /** Whether its statements run one by one, because PostgreSQL does not allow them in a transaction. */
  readonly isAlone: boolean
}

/** A migration as the database has recorded it. */
export interface Applied {
  readonly name: string
  readonly sha256: string
  readonly needs: string | null
}

/** This version of the store cannot work with the database. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'
}

export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      // Git may convert line endings on checkout; that is no edit.
      const sql = (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n')
      return {
        name,
        sql,
        sha256: createHash('sha256').update(sql).digest('hex'),
        needs: /^-- second step of (\S+\.sql)$/m.exec(sql)?.[1],
        isAlone: /^-- outside a transaction$/m.test(sql),
      }
    }),
  )
}

/**
 * The migrations that the database lacks. It may have migrations of a newer version, which this version
 * works with unless one of them removes what it still uses.
 *
 * @throws SchemaTooNew, or an Error if an applied migration was edited
 */
export function missingOf(
  applied: readonly Applied[],
  migrations: readonly Migration[],
): readonly Migration[] {
  const ours = new Map(migrations.map(({ name, sha256 }) => [name, sha256]))
  for (const { name, sha256, needs } of applied) {
    const own = ours.get(name)
    if (own === undefined && needs !== null && !ours.has(needs)) {
      throw new SchemaTooNew(
        `A newer version of the store has changed the database: "${name}" takes away what this ` +
          'version uses. Start a newer version, or restore a backup for this one.',
      )
    }
    if (own !== undefined && own !== sha256) {
      throw new Error(
        `The migration "${name}" was edited after the database had applied it. Put the file back ` +
          'as it was, and write what should change into a new migration.',
      )
    }
  }
  const has = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ name }) => !has.has(name))
}
