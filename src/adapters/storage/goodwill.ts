import { randomUUID } from 'node:crypto'
import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { goodwillDropped } from '../../orders/goodwill.ts'
import type { Goodwill, GoodwillStore } from '../../orders/ports.ts'
import { leaseMs, type Moved } from '../../orders/workflow.ts'
import {
  claimDue,
  type Database,
  hasten,
  type LeasedTable,
  prepared,
  release,
  restored,
  storable,
  writeNext,
} from './database.ts'

interface Row extends Omit<Goodwill, 'amount' | 'payment' | 'receipt' | 'payout'> {
  readonly write_id: string
  readonly amount: string
  readonly doc: unknown
}

export const goodwillOpenSql = `
  (doc #>> '{payout,state}' <> 'CONFIRMED'
    and doc #>> '{payout,code}' is distinct from '${goodwillDropped}')`

const columns = `id, version, write_id, amount::text, reason, given_by as "by", given_at as "givenAt",
  changed_at as "changedAt", doc`
const table: LeasedTable = { name: 'goodwill', columns }

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

export async function readGoodwill(database: Database): Promise<readonly Goodwill[]> {
  const { rows } = await database.query<Row>(
    `select ${columns} from goodwill order by given_at, id`,
  )
  return rows.map(goodwillOf)
}

async function give(database: Database, goodwill: Goodwill): Promise<boolean> {
  const { id, payment, amount, reason, by, givenAt } = goodwill
  const { rowCount } = await database.query(
    `insert into goodwill (id, version, write_id, payer, amount, reason, given_by, given_at, changed_at,
       due_at, locked_until, doc)
     values ($1, 1, $2, $3, $4, $5, $6, $7, $7, now(), now(), $8)
     on conflict (id) do nothing`,
    [
      ...[id, randomUUID(), payment.payer.toLowerCase(), amount.toString(), reason, by, givenAt],
      docOf(goodwill),
    ],
  )
  return rowCount === 1
}

const moveStatement = prepared(
  'move_goodwill',
  `update goodwill set
    version = version + 1,
    write_id = $3,
    changed_at = $4,
    due_at = case when $5::boolean then null else now() end,
    locked_until = case when $5::boolean then now() else now() + $6 * interval '1 ms' end,
    doc = $7
  where id = $1 and version = $2
  returning id`,
)

function move(database: Database, from: Goodwill, to: Goodwill): Promise<Moved<Goodwill>> {
  const isFinished = to.payout.state === 'CONFIRMED' || to.payout.state === 'FAILED'
  return writeNext<Row, Goodwill>(database, from, to, {
    write: (writeId) =>
      moveStatement([from.id, from.version, writeId, to.changedAt, isFinished, leaseMs, docOf(to)]),
    readRow: () => readRow(database, from.id),
    recordOf: goodwillOf,
  })
}

async function readRow(database: Database, id: OrderId): Promise<Row | undefined> {
  const { rows } = await database.query<Row>(`select ${columns} from goodwill where id = $1`, [id])
  return rows[0]
}

function docOf({ payment, receipt, payout }: Goodwill): string {
  return JSON.stringify(storable({ payment, receipt, payout }))
}

function goodwillOf({ write_id: _, doc, amount, ...goodwill }: Row): Goodwill {
  const rest = restored(doc) as Pick<Goodwill, 'payment' | 'receipt' | 'payout'>
  return { ...goodwill, amount: usdc(amount), ...rest }
}
