import { Refusal } from '../../lib/refusal.ts'
import type { Database } from './database.ts'

const archived =
  'The order is archived: it ended long ago, and its goods are not shown here any more. The store still has its record.'

/** What whoever asks for an archived order is told. */
export function archivedRefusal(): Refusal {
  return new Refusal('order_not_found', archived)
}

/** What leads to an archived order. Those of its document are in the form of its indexes (007-archive.sql). */
export const archivedBy = {
  id: 'archived_orders.id = $1',
  paymentId: `doc ->> 'paymentId' = $1`,
  transaction: `lower(doc ->> 'transaction') = lower($1)`,
  paymentKey: 'archived_orders.id = (select order_id from payments where payment_key = $1)',
} as const

/** Where the money of an archived order is; null where none came. */
async function accountOf(
  database: Database,
  by: keyof typeof archivedBy,
  value: string,
): Promise<{ readonly account: string | null } | undefined> {
  const sql = `select account from archived_orders where ${archivedBy[by]} limit 1`
  const { rows } = await database.query<{ account: string | null }>(sql, [value])
  return rows[0]
}

/** @throws Refusal where the order was archived */
export async function requireNotArchived(
  database: Database,
  by: keyof typeof archivedBy,
  value: string,
): Promise<void> {
  if (await accountOf(database, by, value)) throw archivedRefusal()
}

/** What whoever comes with this payment again is told: its order was archived, so it buys nothing. */
export async function paidBefore(database: Database, paymentKey: string): Promise<Refusal> {
  const found = await accountOf(database, 'paymentKey', paymentKey)
  return new Refusal('payment_reused', `This payment opened an order before. ${archived}`, {
    charged: found?.account ? 'yes' : found ? 'no' : 'unknown',
  })
}
