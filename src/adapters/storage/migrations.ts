import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

/** One step from the tables of one version of the store to those of the next. */
export interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
  /** The first of two steps: a version that does not know it cannot live with this second one. */
  readonly needs: string | undefined
  /** Its statements are run one by one, since PostgreSQL runs them in no transaction. */
  readonly isAlone: boolean
}

/** What the database remembers of a migration. */
export interface Applied {
  readonly name: string
  readonly sha256: string
  readonly needs: string | null
}

/** No process of this version can work with the database. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'
}

export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      // Some checkouts turn line ends; that edits nothing.
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
 * Which migrations the database lacks. It may have others that this version does not know, made by a
 * newer one: this version works with them, unless one takes away what it still uses.
 *
 * @throws SchemaTooNew, and when an applied migration was edited
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
