import type { OrderId } from '../../lib/ids.ts'
import type { Order } from '../../orders/order.ts'
import type { OrderPage, OrderPageRequest } from '../../orders/ports.ts'
import { type Database, prepared } from './database.ts'
import { type OrderRow, orderOf } from './order-row.ts'

/** The columns that every read of an order selects. */
export const orderColumns = 'version, recipient, delivery, doc, write_id'

/** The row of an order, and the id of the write that made it. */
export type StoredOrder = OrderRow & { readonly write_id: string }

const byId = `select ${orderColumns} from orders where id = $1`
const byPaymentId = `select ${orderColumns} from orders where payment_id = $1`
/** A transaction may carry several payments. Finds the order of the first one. */
const byTransaction = `select ${orderColumns} from orders where transaction_hash = $1
  order by placed_at, id limit 1`
const byPaymentKey = `select ${orderColumns} from payments join orders on id = order_id
  where payment_key = $1`

const readStatements = {
  id: prepared('order_by_id', byId),
  paymentId: prepared('order_by_payment_id', byPaymentId),
  transaction: prepared('order_by_transaction', byTransaction),
  paymentKey: prepared('order_by_payment_key', byPaymentKey),
} as const

export async function readBy(
  database: Database,
  by: keyof typeof readStatements,
  value: string,
): Promise<StoredOrder | undefined> {
  const { rows } = await database.query<StoredOrder>(readStatements[by]([value]))
  return rows[0]
}

const keyStatement = prepared(
  'order_by_key',
  `select ${orderColumns} from orders
   where id = (select order_id from idempotency_keys where payer = $1 and key = $2)`,
)

export async function readByKey(
  database: Database,
  payer: string,
  key: string,
): Promise<StoredOrder | undefined> {
  const { rows } = await database.query<StoredOrder>(keyStatement([payer.toLowerCase(), key]))
  return rows[0]
}

export async function findBy(
  database: Database,
  by: keyof typeof readStatements,
  value: string,
): Promise<Order | undefined> {
  const stored = await readBy(database, by, value)
  return stored && orderOf(stored)
}

export async function findByKey(
  database: Database,
  payer: string,
  key: string,
): Promise<Order | undefined> {
  const stored = await readByKey(database, payer, key)
  return stored && orderOf(stored)
}

export async function hasKey(
  database: Database,
  id: OrderId,
  keys: readonly string[],
): Promise<boolean> {
  const { rowCount } = await database.query(
    'select 1 from idempotency_keys where order_id = $1 and key = any ($2::text[]) limit 1',
    [id, keys],
  )
  return rowCount === 1
}

export async function boughtIccid(
  database: Database,
  payer: string,
  iccidDigest: string,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `select 1 from orders where payer = $1 and iccid_digest = $2 and outcome = 'DELIVER' limit 1`,
    [payer.toLowerCase(), iccidDigest],
  )
  return rowCount === 1
}

/** One statement, so that count and page agree. Past the end it returns only the count. */
const listSql = `
  with mine as not materialized (
    select ${orderColumns}, placed_at, id from orders
    where payer = $1 and ($2::text is null or kind = $2)
  ), page as (
    select * from mine order by placed_at desc, id desc limit $3 offset $4
  )
  select (select count(*)::int from mine) as total, page.*
  from (select 1) as once left join page on true
  order by page.placed_at desc, page.id desc`

export async function listByPayer(
  database: Database,
  payer: string,
  { kind, limit, offset }: OrderPageRequest,
): Promise<OrderPage> {
  type Row = StoredOrder & { readonly id: string | null; readonly total: number }
  const values = [payer.toLowerCase(), kind ?? null, limit, offset]
  const { rows } = await database.query<Row>(listSql, values)
  const items = rows.filter(({ id }) => id !== null).map(orderOf)
  return { total: rows[0]?.total ?? 0, items }
}
