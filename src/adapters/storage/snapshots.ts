import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Pool } from 'pg'
import type { Offer } from '../../goods/offer.ts'
import type { Snapshot, SnapshotStore } from '../../goods/ports.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Says how the body is written. A body of another format is of another version of the store. */
const format = Buffer.from('K402-1\n')
/** Small enough that making one chunk holds up no request for long. */
const offersPerChunk = 1_000
const keptSnapshots = 2

interface Row {
  readonly read_at: Date
  readonly offers: number
  readonly set_aside: Record<string, number>
  readonly body: Buffer
}

/** What is needed of the database: one statement at a time. */
type Database = Pick<Pool, 'query'>

/** Keeps the last two good lists in the table `catalog_snapshot`, compressed. */
export function createSnapshotStore(database: Database): SnapshotStore {
  return {
    save: (snapshot) => save(database, snapshot),
    load: () => load(database),
  }
}

async function save(database: Database, snapshot: Snapshot): Promise<void> {
  const body = await encode(snapshot.offers)
  const values = [snapshot.readAt, snapshot.offers.length, JSON.stringify(snapshot.setAside), body]
  await database.query(
    'insert into catalog_snapshot (read_at, offers, set_aside, body) values ($1, $2, $3, $4)',
    values,
  )
  await database.query(
    `delete from catalog_snapshot where id not in
       (select id from catalog_snapshot order by id desc limit ${keptSnapshots})`,
  )
}

/**
 * The newest list that can be read. One of another format is passed over, so that an upgrade starts
 * like a first start; one that is damaged falls back to the list before it, and throws without one.
 */
async function load(database: Database): Promise<Snapshot | undefined> {
  let damage: unknown
  for (let age = 0; age < keptSnapshots; age += 1) {
    const { rows } = await database.query<Row>(
      'select read_at, offers, set_aside, body from catalog_snapshot order by id desc limit 1 offset $1',
      [age],
    )
    const [row] = rows
    if (row === undefined) break
    if (!row.body.subarray(0, format.length).equals(format)) continue
    try {
      const offers = await decode(row.body)
      if (offers.length !== row.offers) throw new Error('A stored catalog is not whole')
      return { offers, setAside: row.set_aside, readAt: row.read_at }
    } catch (error) {
      damage ??= error
    }
  }
  if (damage !== undefined) throw damage
  return undefined
}

/** The format, then chunk by chunk its compressed length in four bytes and the chunk itself. */
async function encode(offers: readonly Offer[]): Promise<Buffer> {
  const parts: Buffer[] = [format]
  for (let from = 0; from < offers.length; from += offersPerChunk) {
    const json = JSON.stringify(offers.slice(from, from + offersPerChunk))
    const chunk = await compress(json)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(chunk.length)
    parts.push(length, chunk)
  }
  return Buffer.concat(parts)
}

async function decode(body: Buffer): Promise<Offer[]> {
  const offers: Offer[] = []
  let at = format.length
  while (at < body.length) {
    const from = at + 4
    at = from + body.readUInt32BE(at)
    const json = await decompress(body.subarray(from, at))
    for (const offer of JSON.parse(json.toString('utf8')) as Offer[]) offers.push(offer)
  }
  return offers
}
