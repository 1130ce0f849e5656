import { randomUUID } from 'node:crypto'
import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { type Goodwill, goodwillBalancesOf, goodwillDropped } from '../../orders/goodwill.ts'
import { entriesBetween } from '../../orders/ledger.ts'
import type { GoodwillStore } from '../../orders/ports.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import type { BookedGoodwill } from '../../reconcile/ports.ts'
import { writeNext } from './attempt.ts'
import { type Database, prepared } from './database.ts'
import { claimDue, hasten, type LeasedTable, release } from './leases.ts'
import { type PayoutRow, payoutOf, payoutRowOf } from './payout-row.ts'
import { restored, storable } from './storable.ts'

interface Row {
  readonly id: OrderId
  readonly version: number
  readonly write_id: string
  readonly amount: string
  readonly reason: string
  readonly given_by: string
  readonly given_at: Date
  readonly changed_at: Date
  readonly doc: unknown
}

/** Goodwill that is to be paid: neither paid nor dropped. */
export const goodwillOpenSql = `
  (doc ->> 'step' <> 'REFUNDED' and doc ->> 'code' is distinct from '${goodwillDropped}')`

const columns = 'id, version, write_id, amount::text, reason, given_by, given_at, changed_at, doc'
const table: LeasedTable = { name: 'goodwill', columns }

/** Keeps goodwill in PostgreSQL, whose guards are in 016-goodwill.sql. */
export function createGoodwillStore(database: Database): GoodwillStore {
  return {
    give: (goodwill) => give(database, goodwill),
    move: (from, to) => move(database, from, to),
    release: (goodwill, againInMs) => release(database, table, goodwill, againInMs),
    hasten: (id) => hasten(database, table, 'id', id),
    claimDue: async (limit) => (await claimDue<Row>(database, table, limit)).map(goodwillOf),
    find: async (id) => {
      const row = await readRow(database, id)
      return row && goodwillOf(row)
    },
  }
}

/** All goodwill that was ever given, each with what the ledger has of it. */
export async function readGoodwill(database: Database): Promise<readonly BookedGoodwill[]> {
  const { rows } = await database.query<Row & { readonly booked: string }>(
    `select ${columns},
       (select coalesce(-sum(amount), 0)::text from goodwill_ledger entry
         where entry.id = goodwill.id and account = 'goodwill') as booked
     from goodwill order by given_at, id`,
  )
  return rows.map(({ booked, ...row }) => ({ goodwill: goodwillOf(row), booked: BigInt(booked) }))
}

async function give(database: Database, goodwill: Goodwill): Promise<boolean> {
  const { id, tender, amount, reason, by, givenAt } = goodwill
  const { rowCount } = await database.query(
    `insert into goodwill (id, version, write_id, payer, amount, reason, given_by, given_at, changed_at,
       due_at, locked_until, doc)
     values ($1, 1, $2, $3, $4, $5, $6, $7, $7, now(), now(), $8)
     on conflict (id) do nothing`,
    [
      ...[id, randomUUID(), tender.payer.toLowerCase(), amount.toString(), reason, by, givenAt],
      docOf(goodwill),
    ],
  )
  return rowCount === 1
}

const moveStatement = prepared(
  'move_goodwill',
  `
  with moved as (
    update goodwill set
      version = version + 1,
      write_id = $3,
      changed_at = $4,
      due_at = case when $5::boolean then null else now() end,
      locked_until = case when $5::boolean then now() else now() + $6 * interval '1 ms' end,
      doc = $7
    where id = $1 and version = $2
    returning id
  ), booked as (
    insert into goodwill_ledger (id, account, amount, at)
    select id, account, amount, now() from moved, unnest($8::text[], $9::numeric[]) as entry (account, amount)
  )
  select id from moved`,
)

async function move(database: Database, from: Goodwill, to: Goodwill): Promise<Moved<Goodwill>> {
  const entries = entriesBetween(goodwillBalancesOf(from), goodwillBalancesOf(to))
  const isFinished = to.payout.state === 'CONFIRMED' || to.payout.state === 'FAILED'
  const stored = await writeNext(database, from, {
    write: (writeId) =>
      moveStatement([
        ...[from.id, from.version, writeId, to.changedAt, isFinished, leaseMs, docOf(to)],
        entries.map(({ account }) => account),
        entries.map(({ amount }) => amount.toString()),
      ]),
    read: () => readRow(database, from.id),
  })
  return stored
    ? { won: false, record: goodwillOf(stored) }
    : { won: true, record: { ...to, version: from.version + 1 } }
}

async function readRow(database: Database, id: OrderId): Promise<Row | undefined> {
  const { rows } = await database.query<Row>(`select ${columns} from goodwill where id = $1`, [id])
  return rows[0]
}

function docOf({ tender, receipt, payout }: Goodwill): string {
  return JSON.stringify(storable({ tender, receipt, ...payoutRowOf(payout) }))
}

function goodwillOf({ id, version, amount, reason, ...row }: Row): Goodwill {
  type Doc = Pick<Goodwill, 'tender' | 'receipt'> & PayoutRow
  const { tender, receipt, ...payout } = restored(row.doc) as Doc
  return {
    ...{ id, version, amount: usdc(amount), reason, by: row.given_by },
    ...{ givenAt: row.given_at, changedAt: row.changed_at, tender, receipt },
    payout: payoutOf(payout),
  }
}
