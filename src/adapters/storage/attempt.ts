import { randomUUID } from 'node:crypto'
import { type Database, isRefused, type prepared } from './database.ts'

type Statement = ReturnType<ReturnType<typeof prepared>>

/** What became of a write. With an error, it is not known and has to be looked up. */
export interface Attempt {
  readonly outcome: 'done' | 'not_ours' | 'taken' | 'unknown'
  readonly error?: unknown
  /** The row that a write returned that was done. */
  readonly row?: unknown
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
  statement: Statement,
  isTaken: (error: unknown) => boolean = () => false,
): Promise<Attempt> {
  try {
    const { rowCount, rows } = await database.query(statement)
    return rowCount === 1 ? { outcome: 'done', row: rows[0] } : { outcome: 'not_ours' }
  } catch (error) {
    if (isTaken(error)) return { outcome: 'taken', error }
    if (isRefused(error)) throw error
    return { outcome: 'unknown', error }
  }
}

/** How the next version of a record is written, and the record read. */
interface NextVersion<Row> {
  /** Carried out only while the record has the version that it is moved on from. */
  write(writeId: string): Statement
  read(): Promise<Row | undefined>
}

/**
 * Moves a record on by one version.
 *
 * @returns nothing when that was done, else the record as another write has made it meanwhile
 * @throws when it is not known whether it was done, and for a record that was never opened
 */
export async function writeNext<
  Row extends { readonly version: number; readonly write_id: string },
>(
  database: Database,
  from: { readonly id: string; readonly version: number },
  { write, read }: NextVersion<Row>,
): Promise<Row | undefined> {
  const writeId = randomUUID()
  const written = await attempt(database, write(writeId))
  if (written.outcome === 'done') return undefined
  const stored = await read()
  if (!stored) throw written.error ?? new Error(`${from.id} was never opened`)
  if (stored.write_id === writeId) return undefined
  if (written.error && stored.version === from.version) throw written.error
  return stored
}
