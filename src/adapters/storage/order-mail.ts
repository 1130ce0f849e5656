import type { OrderId } from '../../lib/ids.ts'
import type { MailBook } from '../../orders/mail.ts'
import type { Database } from './database.ts'

const rememberSql = `
  insert into order_mail (order_id, address_digest, left_at) values ($1, $2, now())
  on conflict (order_id) do update set address_digest = excluded.address_digest, left_at = now()`

// Existing orders first, so that nobody can push them out by leaving the address with many unpaid forms.
const ordersSql = `
  select order_id from order_mail left join orders on orders.id = order_mail.order_id
  where address_digest = any($1::text[])
  order by orders.id is null, left_at desc, order_id limit $2`

const forgetSql = `
  delete from order_mail
  where exists (select from orders where orders.id = order_mail.order_id and finished_at < $1)
    or left_at < $1 and not exists (select from orders where orders.id = order_mail.order_id)`

/** Keeps digests of mail addresses for as long as the personal fields of their orders. */
export function createMailBook(database: Database): MailBook {
  return {
    async remember(order, digest) {
      await database.query(rememberSql, [order, digest])
    },
    async ordersOf(digests, limit) {
      const { rows } = await database.query<{ order_id: OrderId }>(ordersSql, [digests, limit])
      return rows.map(({ order_id }) => order_id)
    },
    async forget(endedBefore) {
      const { rowCount } = await database.query(forgetSql, [endedBefore])
      return rowCount ?? 0
    },
  }
}
