import type { OrderId } from '../../lib/ids.ts'
import type { MailBook } from '../../orders/ports.ts'
import {
  type Delivery,
  deliveryLeaseMs,
  type EventStanding,
  maxAttempts,
  maxPerReceiver,
  redeliverEveryMs,
  type WebhookState,
  type WebhookStore,
} from '../../orders/webhooks/ports.ts'
import { type Database, inBatches } from './database.ts'
import { keepShowings } from './showings.ts'

export function createWebhookStore(database: Database): WebhookStore {
  return {
    async find(order) {
      type Row = { readonly webhook: WebhookState } & (EventStanding | { readonly id: null })
      const { rows } = await database.query<Row>(findSql, [order])
      const [first] = rows
      if (first === undefined) return undefined
      const events = rows.flatMap(({ webhook: _, ...row }) => (row.id === null ? [] : [row]))
      return { state: first.webhook, events }
    },

    async redeliver(order) {
      const values = [order, redeliverEveryMs, maxAttempts]
      const { rows } = await database.query<Redelivered>(redeliverSql, values)
      const [done] = rows
      if (!done?.is_there) return 'none'
      return done.is_asked ? done.events : 'too_soon'
    },

    async claimDue(limit) {
      const values = [limit, maxPerReceiver, deliveryLeaseMs]
      return (await database.query<Delivery>(claimSql, values)).rows
    },

    async end({ id, lease }, result) {
      const { type, answer } = result
      const againInMs = type === 'failed' ? result.againInMs : null
      const values = [id, lease, type, answer, againInMs, maxAttempts]
      const { rows } = await database.query<{ is_given_up: boolean }>(endSql, values)
      return rows[0]?.is_given_up ?? false
    },

    forget: (endedBefore, signal) => inBatches(database, forgetSql, [endedBefore], signal),

    async countPending() {
      const { rows } = await database.query<{ pending: number }>(pendingSql)
      return rows[0]?.pending ?? 0
    },
  }
}

const findSql = `
  select order_webhooks.state as webhook, id, type, at, attempts, attempted_at as "attemptedAt", answer,
    due_at as "nextAttemptAt", case when due_at is not null then 'pending'
      when delivered_at is null then 'given_up' else 'delivered' end as state
  from order_webhooks left join webhook_events using (order_id)
  where order_id = $1 order by seq`

/** A delivery that is under way keeps its lease, so no event is sent twice at once. */
const redeliverSql = `
  with asked as (
    update order_webhooks set redelivered_at = now()
    where order_id = $1 and state = 'active'
      and (redelivered_at is null or redelivered_at <= now() - $2 * interval '1 ms')
    returning order_id
  ), queued as (
    update webhook_events set due_at = now()
    from asked where webhook_events.order_id = asked.order_id and attempts < $3
    returning id
  )
  select exists (select from order_webhooks where order_id = $1 and state = 'active') as is_there,
    exists (select from asked) as is_asked, (select count(*)::int from queued) as events`

interface Redelivered {
  readonly is_there: boolean
  readonly is_asked: boolean
  readonly events: number
}

/** Conditions are repeated at the lock, because another node may claim meanwhile. */
const claimSql = `
  with busy as (
    select receiver, count(*) as places from webhook_events join order_webhooks using (order_id)
    where due_at is not null and locked_until > now() group by receiver
  ), waiting as (
    select one.id, one.due_at,
      row_number() over (partition by hook.receiver order by one.due_at, one.seq)
        + coalesce(busy.places, 0) as place
    from webhook_events one join order_webhooks hook using (order_id)
      left join busy on busy.receiver = hook.receiver
    where one.due_at <= now() and one.locked_until <= now() and not exists (
      select from webhook_events earlier
      where earlier.order_id = one.order_id and earlier.seq < one.seq and earlier.due_at is not null)
  ), taken as materialized (
    select id as taken_id from webhook_events
    where id in (select id from waiting where place <= $2 order by due_at limit $1)
      and due_at <= now() and locked_until <= now()
    for update skip locked
  )
  update webhook_events event set attempts = attempts + 1, attempted_at = now(),
    locked_until = now() + $3 * interval '1 ms'
  from taken, order_webhooks hook
  where event.id = taken_id and hook.order_id = event.order_id
  returning event.id, event.order_id as order, event.type, event.at, event.data, event.attempts, hook.target,
    event.locked_until::text as lease`

/** The wait never exceeds `give_up_at`, when the last attempt is made. */
const endSql = `
  with ended as (
    update webhook_events set
      answer = $4,
      locked_until = now(),
      delivered_at = case when $3 = 'delivered' then now() else delivered_at end,
      due_at = case when $3 = 'failed' and now() < give_up_at and attempts < $6
        then least(now() + $5::float8 * interval '1 ms', give_up_at) end
    where id = $1 and locked_until = $2::timestamptz
    returning id, order_id, due_at
  ), gone as (
    update order_webhooks set state = 'gone' from ended
    where $3 = 'gone' and order_webhooks.order_id = ended.order_id
    returning order_webhooks.order_id
  ), dropped as (
    update webhook_events other set due_at = null from gone
    where other.order_id = gone.order_id and other.id <> $1
  )
  select $3 <> 'delivered' and due_at is null as is_given_up from ended`

const forgetSql = `
  delete from order_webhooks where order_id in (
    select order_id from order_webhooks join orders on orders.id = order_id
    where finished_at < $1 limit $2)`

const pendingSql = `
  select count(*)::int as pending from webhook_events where due_at is not null`

export function createMailBook(database: Database): MailBook {
  return {
    async remember(order, digest) {
      await database.query(
        `insert into order_mail (order_id, address_digest, left_at) values ($1, $2, now())
         on conflict (order_id) do update set address_digest = excluded.address_digest, left_at = now()`,
        [order, digest],
      )
    },
    async ordersOf(digests, limit) {
      // Existing orders first, so that nobody can push them out by leaving the address with many unpaid forms.
      const { rows } = await database.query<{ order_id: OrderId }>(
        `select order_id from order_mail left join orders on orders.id = order_mail.order_id
         where address_digest = any($1::text[])
         order by orders.id is null, left_at desc, order_id limit $2`,
        [digests, limit],
      )
      return rows.map(({ order_id }) => order_id)
    },
    async sent(orders, askedBy) {
      const one = { what: 'link_sent', how: askedBy, at: new Date() } as const
      await keepShowings(
        database,
        orders.map((order) => ({ order, ...one })),
      )
    },
    async forget(endedBefore) {
      const { rowCount } = await database.query(
        `delete from order_mail
         where exists (select from orders where orders.id = order_mail.order_id and finished_at < $1)
           or left_at < $1 and not exists (select from orders where orders.id = order_mail.order_id)`,
        [endedBefore],
      )
      return rowCount ?? 0
    },
  }
}
