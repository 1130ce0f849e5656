import { randomUUID } from 'node:crypto'
import { type Database, isRefused, type prepared } from './database.ts'

type Statement = ReturnType<ReturnType<typeof prepared>>

/**
 * The result of a write. `not_ours`: it affected no row. `taken`: what it would write already exists.
 * `unknown`: it may have been committed, so the caller must look it up.
 */
export interface Attempt {
  readonly outcome: 'done' | 'not_ours' | 'taken' | 'unknown'
  readonly error?: unknown
  /** The row that the write returned; only if `done`. */
  readonly row?: unknown
}

/**
 * Runs a write that returns one row if it was carried out. If the connection breaks before the answer,
 * the write may have been committed: its random id in the row tells. It may also be committed after
 * that look, so a write that is not found is an error, not a "no"; until then the lease of the record
 * keeps other workers away.
 *
 * @param isTaken whether the error says that what is to be written already exists
 * @throws the error of a write that the server refused for any other reason
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

/** How to write the next version of a record, and how to read the record. */
interface NextVersion<Row> {
  /** Affects the record only while it still has the version that the write replaces. */
  write(writeId: string): Statement
  read(): Promise<Row | undefined>
}

/**
 * Writes the next version of a record.
 *
 * @returns undefined if it was written, otherwise the record as another write has left it
 * @throws if it is unknown whether it was written, or if the record was never opened
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
