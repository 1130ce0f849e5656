import type { Kind } from '../../catalog/offer.ts'
import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import { type Database, restored } from './database.ts'

/** Of the newest orders, as many as a person reads. */
const most = 50

/** By each, the ids of the orders, $1 being all spellings of what is sought, in lower case. */
const idsSql = {
  order: 'select unnest($1::text[]) as id',
  checkout: 'select order_id as id from checkouts where id = any ($1)',
  payment: 'select id from orders where payment_id = any ($1)',
  transaction: `
    select id from orders where transaction_hash = any ($1)
    union select id from orders where refund_transaction_hash = any ($1)
    union select order_id from checkouts where transactions && $1
    union select id from goodwill where lower(doc #>> '{payout,transaction}') = any ($1)
    union select coalesce(order_id, split_part(reference, '-', 1))
      from hand_payouts left join checkouts on id = split_part(reference, '-', 1) where transaction_hash = any ($1)`,
  address: `
    select found.id from unnest($1::text[]) as one (payer), lateral (
      select id from orders where orders.payer = one.payer order by placed_at desc, id desc limit ${most + 1}) as found
    union select order_id from checkouts where addresses && $1
    union select order_id from checkouts where lower(refund_to) = any ($1)`,
  person: `
    select found.id from unnest($1::text[]) as one (person), lateral (
      select order_id as id from order_persons where order_persons.person = one.person
      order by at desc limit ${most + 1}) as found
    union select order_id from order_mail where address_digest = any ($1)
    union select id from orders where iccid_digest = any ($1)`,
  request: `
    select order_id as id from order_events where seq = 1 and detail ->> 'request' = any ($1)
    union select order_id from checkout_events join checkouts on id = checkout_id
      where seq = 1 and detail ->> 'request' = any ($1)`,
  recovery: `select order_id as id from order_events where seq = 1 and detail ->> 'recovery' = any ($1)`,
} as const

type FoundAs = keyof typeof idsSql

export interface Sought {
  readonly by: FoundAs
  readonly values: readonly string[]
}

export interface FoundOrder {
  readonly order: OrderId
  /** Of an order in a coin; it may be all there is. */
  readonly checkout: CheckoutId | null
  readonly state: string
  readonly refundState: string | null
  readonly kind: Kind
  readonly brandName: string
  readonly country: string | null
  /** In atomic USDC. */
  readonly amount: string
  readonly placedAt: Date
}

const foundSql = (by: FoundAs) => `
  with found as (${idsSql[by]})
  select found.id as order, checkouts.id as checkout, coalesce(orders.state, checkouts.state) as state,
    refund_state as "refundState", item ->> 'kind' as kind, item ->> 'brandName' as "brandName",
    item ->> 'country' as country, coalesce(orders.amount, checkouts.amount)::text as amount,
    coalesce(placed_at, started_at) as "placedAt"
  from found left join orders on orders.id = found.id left join checkouts on checkouts.order_id = found.id,
    lateral (select coalesce(orders.doc -> 'item', checkouts.doc -> 'item') as item) as sold
  where item is not null
  order by "placedAt" desc, found.id limit ${most + 1}`

/** The newest first. */
export async function findOrders(
  database: Database,
  { by, values }: Sought,
): Promise<{ readonly found: readonly FoundOrder[]; readonly isMore: boolean }> {
  const { rows } = await database.query<FoundOrder>(foundSql(by), [values])
  return { found: rows.slice(0, most), isMore: rows.length > most }
}

export interface LifeEvent {
  readonly at: Date
  /** What it belongs to: `order`, `checkout`, `payout`, `goods_shown`, `link_sent`, `webhook`, `audit` and their like. */
  readonly of: string
  readonly what: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** $1: the order, $2: its checkout or an empty text. */
const lifeSql = `
  with payouts as (
    select $1 as reference union select $1 || '-goodwill'
    union select $2 || '-' || seq from checkouts, checkout_returns(doc) where id = $2
  )
  select at, 'order' as of, state as what,
    (detail || jsonb_strip_nulls(jsonb_build_object('payout', payout_state))) - 'recovery' as detail, seq
    from order_events where order_id = $1
  union all select at, 'checkout', state, detail, seq from checkout_events where checkout_id = $2
  union all select (doc #>> array[step, '$date'])::timestamptz, 'supplier', step, doc #> '{item,source}', 0
    from orders, unnest(array['askedAt', 'askedAgainAt', 'acceptedAt']) as step where id = $1 and doc ? step
  union all select (doc #>> '{supply,askedBackAt,$date}')::timestamptz, 'supplier', 'askedBackAt', doc #> '{item,source}', 0
    from orders where id = $1 and doc #> '{supply,askedBackAt}' is not null
  union all select granted_at, 'payout', 'granted', jsonb_build_object('reference', reference,
    'worthAtomicUsdc', amount::text), 0 from payout_grants join payouts using (reference)
  union all select noted_at, 'payout', 'noted_as_paid', jsonb_build_object('reference', reference, 'by', noted_by,
    'transaction', transaction_hash), 0 from hand_payouts join payouts using (reference)
  union all select waits_since, 'payout', 'waits_at_processor', jsonb_build_object('reference', reference), 0
    from processor_payouts join payouts using (reference) where waits_since is not null
  union all select given_at, 'goodwill', 'given', jsonb_build_object('by', given_by, 'reason', reason,
    'amountAtomicUsdc', amount::text), 0 from goodwill where id = $1
  union all select changed_at, 'goodwill', doc #>> '{payout,state}', jsonb_strip_nulls(jsonb_build_object(
    'transaction', doc #> '{payout,transaction}', 'code', doc #> '{payout,code}')), 1
    from goodwill where id = $1 and version > 1
  union all select created_at, 'claim', 'refund_claimed', '{}', 0 from refund_claims where order_id = $1
  union all select coalesce(attempted_at, at), 'webhook', type, jsonb_strip_nulls(jsonb_build_object(
    'attempts', attempts, 'answer', answer, 'deliveredAt', delivered_at)), seq from webhook_events where order_id = $1
  union all select left_at, 'mail', 'address_left', '{}', 0 from order_mail where order_id = $1
  union all select at, what, how, '{}', 0 from order_showings where order_id = $1
  union all select at, 'audit', act, jsonb_strip_nulls(jsonb_build_object('by', by, 'reason', reason,
    'before', before, 'after', after)), 0 from audit.acts where subject in ('order:' || $1, 'checkout:' || $2)
  order by at, seq`

export async function lifeOf(
  database: Database,
  order: OrderId,
  checkout: CheckoutId | undefined,
): Promise<readonly LifeEvent[]> {
  const { rows } = await database.query<LifeEvent>(lifeSql, [order, checkout ?? ''])
  return rows.map(({ at, of, what, detail }) => {
    return { at, of, what, detail: restored(detail) as LifeEvent['detail'] }
  })
}
