import { type Database, isRefused, type prepared } from './database.ts'

/** What became of a write. With an error, it is not known and has to be looked up. */
export interface Attempt {
  readonly outcome: 'done' | 'not_ours' | 'taken' | 'unknown'
  readonly error?: unknown
}

/**
 * Runs a write that returns one row if it was carried out. When the connection breaks before the
 * answer, the write may be committed: its random id in the row then tells whether it was. It may
 * also be committed after that look, so a write that is not found is an error and not a no; the
 * lease of the record keeps everyone else away until then.
 *
 * @param isTaken whether an error says that what was to be written is there already
 */
export async function attempt(
  database: Database,
  statement: ReturnType<ReturnType<typeof prepared>>,
  isTaken: (error: unknown) => boolean = () => false,
): Promise<Attempt> {
  try {
    const { rowCount } = await database.query(statement)
    return { outcome: rowCount === 1 ? 'done' : 'not_ours' }
  } catch (error) {
    if (isTaken(error)) return { outcome: 'taken', error }
    if (isRefused(error)) throw error
    return { outcome: 'unknown', error }
  }
}
