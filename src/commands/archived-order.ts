import type { Archive } from '../adapters/storage/archive.ts'
import type { Sealed, Vault } from '../secrets/vault.ts'
import { linesOf } from './archive-files.ts'

/** An order as its file has it: its rows in the tables, by the names of their columns. */
interface ArchivedOrder {
  readonly order: { readonly id: string; readonly delivery: Sealed | null }
  readonly [part: string]: unknown
}

/**
 * An archived order from its file, with all that belongs to it.
 *
 * @param name its id, its payment id or its transaction
 * @throws when it is not archived, or its file is missing or is not what was written
 */
export async function readArchived(
  archive: Pick<Archive, 'fileOf'>,
  dir: string,
  name: string,
): Promise<ArchivedOrder> {
  const found = await archive.fileOf(name)
  if (!found) throw new Error(`no order is archived under ${name}`)
  for await (const line of await linesOf(dir, found)) {
    // Looked for as text first: to parse every line takes far longer.
    if (!line.includes(found.id)) continue
    const read: ArchivedOrder = JSON.parse(line)
    if (read.order.id === found.id) return read
  }
  throw new Error(`${found.file} does not have order ${found.id}`)
}

/**
 * The same with what was delivered, opened. Null where nothing was.
 *
 * @throws when the key that sealed it is not among those of the vault
 */
export function withGoods(vault: Vault, archived: ArchivedOrder) {
  const { id, delivery } = archived.order
  const goods = delivery === null ? null : vault.open(delivery, { order: id, field: 'delivery' })
  return { ...archived, goods }
}
