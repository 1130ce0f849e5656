/**
 * Finds the row of an offer by its id: a hash table with open addressing and linear probing. The process that
 * answers would have to build a Map of 200,000 ids itself; it receives this table ready.
 */
export interface OfferIds {
  /** The row of the offer at each place, plus one; 0 where there is none. */
  readonly rows: Uint32Array
  /** The hash of its id, so that an offer with another id is hardly ever read. */
  readonly hashes: Uint32Array
}

/** @param ids the id of each row */
export function packIds(ids: readonly string[], rows: Iterable<number>): OfferIds {
  // At most half of the places are taken, so the next empty one is near.
  const size = 2 ** Math.ceil(Math.log2(2 * ids.length + 2))
  const table = { rows: new Uint32Array(size), hashes: new Uint32Array(size) }
  for (const row of rows) {
    const hash = hashOf(ids[row] as string)
    let place = hash & (size - 1)
    while (table.rows[place] !== 0) place = (place + 1) & (size - 1)
    table.rows[place] = row + 1
    table.hashes[place] = hash
  }
  return table
}

/** The rows that may have the id or one like it, in the order of the table. The caller compares the ids. */
export function* rowsOf({ rows, hashes }: OfferIds, id: string): Generator<number> {
  const hash = hashOf(id)
  let place = hash & (rows.length - 1)
  while (rows[place] !== 0) {
    if (hashes[place] === hash) yield (rows[place] as number) - 1
    place = (place + 1) & (rows.length - 1)
  }
}

/**
 * Whether two ids differ only in case and in the signs between words, which models change when they copy an id.
 */
export function isLikeId(id: string, text: string): boolean {
  if (id.length !== text.length) return false
  for (let at = 0; at < id.length; at++) {
    if (folded(id.charCodeAt(at)) !== folded(text.charCodeAt(at))) return false
  }
  return true
}

/** FNV-1a over the folded code units, so that an id is also found by one that is like it. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at++)
    hash = Math.imul(hash ^ folded(id.charCodeAt(at)), 0x01000193)
  return hash >>> 0
}

const [hyphen, underscore, blank] = [0x2d, 0x5f, 0x20]

/** Upper-cases an ASCII letter, and maps each separator of words to a hyphen. */
function folded(unit: number): number {
  if (unit >= 0x61 && unit <= 0x7a) return unit - 0x20
  return unit === underscore || unit === blank ? hyphen : unit
}
