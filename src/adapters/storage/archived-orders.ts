import { Refusal } from '../../primitives/refusal.ts'
import type { Database } from './database.ts'

const archived =
  'The order is archived: it ended long ago, and its goods are not shown here any more. The store still has its record.'

async function accountOf(
  database: Database,
  where: string,
  value: string,
): Promise<{ readonly account: string | null } | undefined> {
  const sql = `select account from archived_orders where id = ${where}`
  const { rows } = await database.query<{ account: string | null }>(sql, [value])
  return rows[0]
}

/** @throws Refusal where the order with this id was archived */
export async function requireNotArchived(database: Database, id: string): Promise<void> {
  if (await accountOf(database, '$1', id)) throw new Refusal('order_not_found', archived)
}

/** What whoever comes with this payment again is told: its order was archived, so it buys nothing. */
export async function paidBefore(database: Database, paymentKey: string): Promise<Refusal> {
  const claim = '(select order_id from payments where payment_key = $1)'
  const found = await accountOf(database, claim, paymentKey)
  return new Refusal('payment_reused', `This payment opened an order before. ${archived}`, {
    charged: found?.account ? 'yes' : found ? 'no' : 'unknown',
  })
}
