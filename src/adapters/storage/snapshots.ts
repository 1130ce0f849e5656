import type { Offer } from '../../catalog/offer.ts'
import type { Snapshot, SnapshotStore } from '../../catalog/ports.ts'
import type { Database } from './database.ts'

/** Raised with the form of an offer, so that an upgrade starts like a first start. */
const format = 1
const offersPerPage = 500

interface Row {
  readonly id: string
  readonly read_at: Date
  readonly offers: number
  readonly set_aside: Record<string, number>
  readonly held: Readonly<Record<string, string>>
}

export function createSnapshotStore(database: Database): SnapshotStore {
  let lastSnapshot: { readonly id: string; readonly offers: readonly Offer[] } | undefined
  return {
    async save(snapshot) {
      if (lastSnapshot?.offers === snapshot.offers) {
        const { rowCount } = await database.query(
          'update catalog_snapshot set read_at = $2, set_aside = $3, held = $4 where id = $1',
          [lastSnapshot.id, ...factsOf(snapshot)],
        )
        if (rowCount === 1) return
      }
      lastSnapshot = { id: await save(database, snapshot), offers: snapshot.offers }
    },
    async load(keep = (offer) => offer) {
      const { rows } = await database.query<Row>(
        `select id::text, read_at, offers, set_aside, held from catalog_snapshot
           where format = $1 order by id desc limit 1`,
        [format],
      )
      const [row] = rows
      if (row === undefined) return undefined
      const offers = await readPages(database, row, keep)
      lastSnapshot = { id: row.id, offers }
      const held = Object.entries(row.held).map(([list, at]) => [list, new Date(at)])
      return {
        offers,
        rejected: row.set_aside,
        readAt: row.read_at,
        held: Object.fromEntries(held),
      }
    },
  }
}

/** The row comes last, so that nobody reads a list whose pages are not all there. */
async function save(database: Database, snapshot: Snapshot): Promise<string> {
  const { offers } = snapshot
  const { rows } = await database.query<{ id: string }>(
    "select nextval('catalog_snapshot_ids')::text as id",
  )
  const id = rows[0]?.id ?? ''
  for (let from = 0; from < offers.length; from += offersPerPage) {
    const page = offers.slice(from, from + offersPerPage)
    await database.query('insert into catalog_pages (snapshot, page, offers) values ($1, $2, $3)', [
      id,
      from / offersPerPage,
      JSON.stringify(page),
    ])
  }
  await database.query(
    'insert into catalog_snapshot (id, read_at, set_aside, held, offers, format) values ($1, $2, $3, $4, $5, $6)',
    [id, ...factsOf(snapshot), offers.length, format],
  )
  await database.query('delete from catalog_snapshot where id < $1', [id])
  await database.query('delete from catalog_pages where snapshot < $1', [id])
  return id
}

function factsOf({ readAt, rejected, held = {} }: Snapshot) {
  return [readAt, JSON.stringify(rejected), JSON.stringify(held)] as const
}

async function readPages(
  database: Database,
  { id, offers: count }: Row,
  keep: (offer: Offer) => Offer,
): Promise<Offer[]> {
  const offers: Offer[] = []
  for (let page = 0; offers.length < count; page++) {
    const { rows } = await database.query<{ offers: Offer[] }>(
      'select offers from catalog_pages where snapshot = $1 and page = $2',
      [id, page],
    )
    const [row] = rows
    if (row === undefined) throw new Error(`The stored catalog ${id} has no page ${page}`)
    for (const offer of row.offers) offers.push(keep(offer))
  }
  return offers
}
