import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { Archive, ArchiveFile } from '../adapters/storage/archive.ts'
import type { Sealed, Vault } from '../secrets/vault.ts'

/** SHA-256 of the content of a file, in hex. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/**
 * The lines of a file of the archive, after its digest was checked.
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

/**
 * Reads an archived order, or a checkout that became none, from its file.
 *
 * @param name its id, its payment id or its transaction
 * @throws when it is not archived, or its file is missing or is not what was written
 */
export async function readArchived(
  archive: Pick<Archive, 'fileOf'>,
  dir: string,
  name: string,
): Promise<ArchiveEntry> {
  const found = await archive.fileOf(name)
  if (!found) throw new Error(`no order is archived under ${name}`)
  for await (const line of await linesOf(dir, found)) {
    // Searched as text first, because parsing every line takes far longer.
    if (!line.includes(found.id)) continue
    const read: ArchiveEntry = JSON.parse(line)
    if (rowIn(read).id === found.id) return read
  }
  throw new Error(`${found.file} does not have ${found.id}`)
}

/**
 * The same with the goods opened; null if nothing was delivered.
 *
 * @throws when the vault lacks the key that sealed them
 */
export function withGoods(vault: Vault, archived: ArchiveEntry) {
  const { id, delivery = null } = archived.order ?? { id: rowIn(archived).id }
  const goods = delivery === null ? null : vault.open(delivery, { order: id, field: 'delivery' })
  return { ...archived, goods }
}
