import type { OrderId } from '../../lib/ids.ts'
import { eraseCheckouts } from './checkouts.ts'
import type { Database } from './database.ts'
import { eraseOrders } from './forgetting.ts'

/** One `hasEnded` if the store has nothing left to do for it that needs the personal fields. */
export async function ordersOfPerson(database: Database, digests: readonly string[]) {
  const { rows } = await database.query<{ order: OrderId; hasEnded: boolean }>(
    `with named as (
       select order_id from order_persons where person = any ($1)
       union select order_id from order_mail where address_digest = any ($1)
     )
     select named.order_id as order, (orders.id is null or orders.finished_at is not null)
       and (checkouts.id is null or checkouts.finished_at is not null) as "hasEnded"
     from named left join orders on orders.id = named.order_id
       left join checkouts on checkouts.order_id = named.order_id
     order by 1`,
    [digests],
  )
  return rows
}

/** Erases e-mail addresses, phone numbers and names of these orders, and all by which they could be found by them. */
export async function eraseFields(
  client: Database,
  orders: readonly OrderId[],
): Promise<{ readonly orders: number; readonly checkouts: number }> {
  const erased = {
    orders: await eraseOrders(client, orders),
    checkouts: await eraseCheckouts(client, orders),
  }
  const rows = ['order_persons', 'order_mail', 'order_webhooks']
  for (const table of rows) {
    await client.query(`delete from ${table} where order_id = any ($1)`, [orders])
  }
  // The person who approved it read what was bought, and for whom.
  await client.query('delete from approvals where used_by = any ($1)', [orders])
  return erased
}

/** Leaves of these parties what `erasedParty` gives. Returns how many entries named them. */
export async function eraseFromDenylist(
  client: Database,
  identities: readonly string[],
  party: string,
): Promise<number> {
  const { rowCount } = await client.query(
    'update denylist_changes set party = $2, identity = $2 where identity = any ($1)',
    [identities, party],
  )
  return rowCount ?? 0
}
