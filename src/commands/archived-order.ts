import type { Archive } from '../adapters/storage/archive.ts'
import type { Vault } from '../secrets/vault.ts'
import { type ArchiveEntry, linesOf, rowIn } from './archive-files.ts'

/**
 * What its file has of an archived order, or of a checkout that became none.
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
    // Looked for as text first: to parse every line takes far longer.
    if (!line.includes(found.id)) continue
    const read: ArchiveEntry = JSON.parse(line)
    if (rowIn(read).id === found.id) return read
  }
  throw new Error(`${found.file} does not have ${found.id}`)
}

/**
 * The same with what was delivered, opened. Null where nothing was.
 *
 * @throws when the key that sealed it is not among those of the vault
 */
export function withGoods(vault: Vault, archived: ArchiveEntry) {
  const { id, delivery = null } = archived.order ?? { id: rowIn(archived).id }
  const goods = delivery === null ? null : vault.open(delivery, { order: id, field: 'delivery' })
  return { ...archived, goods }
}
