import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { ArchiveFile } from '../adapters/storage/archive.ts'
import type { Sealed } from '../secrets/vault.ts'

/** SHA-256 of what a file holds. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/**
 * The lines of a file of the archive, which is read once before, and whole.
 *
 * @throws when it is missing or is not what was written
 */
export async function linesOf(
  dir: string,
  { file, sha256 }: Pick<ArchiveFile, 'file' | 'sha256'>,
): Promise<AsyncIterable<string>> {
  const path = join(dir, file)
  const found = await digestOf(path)
  if (found !== sha256) {
    throw new Error(`${path} is not the file that was written: its SHA-256 is ${found}`)
  }
  return createInterface({ input: createReadStream(path).pipe(createGunzip()) })
}

interface Row {
  readonly id: string
  readonly version: number
}

/** A line of a file: an order, or a checkout that became none, with all that belongs to it. */
export type ArchiveEntry = { readonly [part: string]: unknown } & (
  | { readonly order: Row & { readonly delivery: Sealed | null } }
  | { readonly order?: never; readonly checkout: { readonly row: Row } }
)

/** The row of what a line is about. */
export function rowIn(entry: ArchiveEntry): Row {
  return entry.order ?? entry.checkout.row
}
