import { Refusal } from '../../lib/refusal.ts'
import type { Database } from './database.ts'

const archived =
  'The order is archived: it ended long ago, and its goods are not shown here any more. The store still has its record.'

/** The refusal of a request for an archived order. */
export function archivedRefusal(): Refusal {
  return new Refusal('order_not_found', archived)
}

/** Conditions that find an archived order. Those on its document are written like its indexes (007-archive.sql). */
export const archivedBy = {
  id: 'archived_orders.id = $1',
  paymentId: `doc ->> 'paymentId' = $1`,
  transaction: `lower(doc ->> 'transaction') = lower($1)`,
  paymentKey: 'archived_orders.id = (select order_id from payments where payment_key = $1)',
} as const

/** The ledger account that holds the money of an archived order; null if none was received. */
async function accountOf(
  database: Database,
  by: keyof typeof archivedBy,
  value: string,
): Promise<{ readonly account: string | null } | undefined> {
  const sql = `select account from archived_orders where ${archivedBy[by]} limit 1`
  const { rows } = await database.query<{ account: string | null }>(sql, [value])
  return rows[0]
}

/** @throws Refusal if the order is archived */
export async function requireNotArchived(
  database: Database,
  by: keyof typeof archivedBy,
  value: string,
): Promise<void> {
  if (await accountOf(database, by, value)) throw archivedRefusal()
}

/** The refusal of a payment whose order is archived. It buys nothing again. */
export async function paidBefore(database: Database, paymentKey: string): Promise<Refusal> {
  const found = await accountOf(database, 'paymentKey', paymentKey)
  return new Refusal('payment_reused', `This payment opened an order before. ${archived}`, {
    charged: found?.account ? 'yes' : found ? 'no' : 'unknown',
  })
}
