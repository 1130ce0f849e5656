import { createHash } from 'node:crypto'
import type { OfferRecords } from '../../catalog/offer-records.ts'
import type { Snapshot, SnapshotStore } from '../../catalog/ports.ts'
import type { Database } from './database.ts'

/** Marks the format of the body. Another version of the store may use another format. */
const format = Buffer.from('K402-7\n')
const digestBytes = 32
const keptSnapshots = 2

interface Row {
  readonly read_at: Date
  readonly offers: number
  readonly set_aside: Record<string, number>
  readonly held: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Keeps the last two good lists in the table `catalog_snapshot`, as the packed blocks of offers. */
export function createSnapshotStore(database: Database): SnapshotStore {
  return {
    save: (snapshot) => save(database, snapshot),
    load: () => load(database),
  }
}

async function save(database: Database, snapshot: Snapshot): Promise<void> {
  const { readAt, held = {}, offers, rejected } = snapshot
  const told = [rejected, held].map((facts) => JSON.stringify(facts))
  const values = [readAt, offers.count, ...told, encode(offers)]
  await database.query(
    'insert into catalog_snapshot (read_at, offers, set_aside, held, body) values ($1, $2, $3, $4, $5)',
    values,
  )
  await database.query(
    `delete from catalog_snapshot where id not in
       (select id from catalog_snapshot order by id desc limit ${keptSnapshots})`,
  )
}

/**
 * The newest readable list. Lists of another format are skipped, so that an upgrade starts like a first
 * start. A damaged list is skipped for the one before it.
 *
 * @throws Error if a list is damaged and no other one is readable
 */
async function load(database: Database): Promise<Snapshot | undefined> {
  let damage: unknown
  for (let age = 0; age < keptSnapshots; age += 1) {
    const { rows } = await database.query<Row>(
      'select read_at, offers, set_aside, held, body from catalog_snapshot order by id desc limit 1 offset $1',
      [age],
    )
    const [row] = rows
    if (row === undefined) break
    if (!row.body.subarray(0, format.length).equals(format)) continue
    try {
      const offers = decode(row.body, row.offers)
      const held = Object.entries(row.held).map(([kind, at]) => [kind, new Date(at)])
      return {
        offers,
        rejected: row.set_aside,
        readAt: row.read_at,
        held: Object.fromEntries(held),
      }
    } catch (error) {
      damage ??= error
    }
  }
  if (damage !== undefined) throw damage
  return undefined
}

/** The format, a SHA-256 digest of the rest, the number of starts, the starts, and the blocks. */
function encode({ bytes, starts }: OfferRecords): Buffer {
  const numbers = Buffer.alloc(4 * (starts.length + 1))
  numbers.writeUInt32LE(starts.length)
  for (const [at, start] of starts.entries()) numbers.writeUInt32LE(start, 4 * (at + 1))
  const rest = Buffer.concat([numbers, bytes])
  return Buffer.concat([format, digestOf(rest), rest])
}

/** @throws Error if the body does not match its digest */
function decode(body: Buffer, count: number): OfferRecords {
  const digest = body.subarray(format.length, format.length + digestBytes)
  const rest = body.subarray(format.length + digestBytes)
  if (!digestOf(rest).equals(digest)) throw new Error('A stored catalog is not whole')
  const length = rest.readUInt32LE()
  const starts = new Uint32Array(length)
  for (let at = 0; at < length; at++) starts[at] = rest.readUInt32LE(4 * (at + 1))
  const bytes = new Uint8Array(starts[length - 1] ?? 0)
  bytes.set(rest.subarray(4 * (length + 1)))
  return { count, bytes, starts }
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
