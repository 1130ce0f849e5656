import type { CheckoutState } from '../../checkouts/checkout.ts'
import type { CheckoutFacts } from '../../checkouts/ports.ts'
import type { OfferId, OrderId } from '../../lib/ids.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { DearSale, Pace } from '../../operations/ports.ts'
import { supplierReferenceOf } from '../../orders/order.ts'
import type { OpenAtSupplier, OpenFacts, OrderFacts } from '../../orders/ports.ts'
import { noFundsCode } from '../../suppliers/supplier.ts'
import type { Database } from './database.ts'
import { goodwillOpenSql } from './goodwill.ts'
import { readOpenReturns, switchSql } from './payouts.ts'

const exposureSql = `
  select coalesce(sum(amount), 0)::text as exposure from (
    select amount from orders
    where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
      and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
      and doc #>> '{payment,method}' = 'x402'
    union all
    select amount from goodwill where ${goodwillOpenSql} and doc #>> '{payment,method}' = 'x402') as open`

/**
 * One statement for one moment; its conditions match those of indexes. A delivered order may still be due. An age is
 * negative if the order was placed by a clock ahead of the database's.
 */
const factsSql = `
  with ends as (
    select state, sum(came)::float8 as came, sum(came - gone)::float8 as orders
    from order_ends group by state
  )
  select
    (select coalesce(jsonb_object_agg(state, orders), '{}') from (
      select state, orders from ends where orders > 0
      union all
      select state, count(*) from orders where state = 'PAYMENT_PENDING' group by state
      union all
      select state, count(*) from orders where state in ('PAID', 'FULFILLING') group by state
    ) as counted) as "byState",
    (select coalesce(jsonb_object_agg(state, came), '{}') from ends) as ended,
    (select count(*)::int from orders
      where refund_state = 'REFUND_FAILED' and settlement is distinct from 'LOST') as "refundsFailed",
    (select count(*)::int from goodwill
      where ${goodwillOpenSql} and doc #>> '{payout,state}' = 'FAILED') as "goodwillFailed",
    (select greatest(0, extract(epoch from now() - min(placed_at)))::float8 from orders
      where due_at is not null and outcome is distinct from 'DELIVER'
        and refund_state is distinct from 'REFUNDED' having count(*) > 0) as "oldestOpenSeconds",
    (${exposureSql}) as exposure,
    coalesce((select stopped from (${switchSql}) as last), false) as "refundsStopped"`

interface Facts extends Omit<OrderFacts, 'oldestOpenSeconds' | 'exposure'> {
  readonly oldestOpenSeconds: number | null
  readonly exposure: string
}

export async function orderFacts(database: Database): Promise<OrderFacts> {
  const { rows } = await database.query<Facts>(factsSql)
  const [{ oldestOpenSeconds, exposure, ...facts }] = rows as [Facts]
  return {
    ...facts,
    oldestOpenSeconds: oldestOpenSeconds ?? undefined,
    exposure: usdc(exposure),
  }
}

/** Safe to run twice at once: each statement adds up the rows that the other has not deleted. */
const addUpSql = `
  with taken as (delete from order_ends returning *)
  insert into order_ends select state, sum(came), sum(gone) from taken group by state`

export async function addUpEnds(database: Database): Promise<void> {
  await database.query(addUpSql)
}

export async function exposureOf(database: Database): Promise<Usdc> {
  const { rows } = await database.query<{ exposure: string }>(exposureSql)
  return usdc(rows[0]?.exposure ?? '0')
}

const supplierSql = `doc #>> '{item,source,supplier}'`

/**
 * By supplier, at one moment. An order in a coin was paid before it was opened, so its pending state counts as committed.
 * The payer of a checkout whose payment is not confirmed can still replace the transaction.
 */
const suppliersSql = `
  select ${supplierSql} as supplier,
    coalesce(sum(amount) filter (where what = 'pending'), 0)::text as pending,
    coalesce(sum(amount) filter (where what = 'committed'), 0)::text as committed,
    coalesce(sum(amount) filter (where what = 'unconfirmed'), 0)::text as unconfirmed
  from (
    select case doc #>> '{payment,method}' when 'x402' then 'pending' else 'committed' end as what, amount, doc
      from orders where due_at is not null and state = 'PAYMENT_PENDING'
    union all
    select 'committed', amount, doc from orders where state in ('PAID', 'FULFILLING')
    union all
    select 'committed', amount, doc from orders where doc #>> '{supply,state}' = 'OPEN'
    union all
    select 'committed', amount, doc from checkouts where due_at is not null and is_placed = false
    union all
    select case doc #>> '{invoice,status}' when 'SETTLED' then 'committed' else 'unconfirmed' end, amount, doc
      from checkouts where due_at is not null and state = 'OPEN' and doc #>> '{invoice,status}' in ('PROCESSING', 'SETTLED')
  ) as open group by 1`
const refundsSql = `
  select count(*)::int as refunds from orders where refund_state = 'REFUND_PENDING'`
/** `released_since`: the orders given up since each was placed, whose price the supplier was holding then. */
const refusedSql = `
  select id, amount::text, changed_at, ${supplierSql} as supplier, (
    select coalesce(sum(other.amount), 0)::text from orders other
      where other.outcome = 'REFUND' and other.changed_at >= refused.placed_at
        and other.changed_at > now() - interval '2 hours'
        and other.placed_at <= refused.changed_at
        and other.doc #>> '{failure,code}' is distinct from '${noFundsCode}'
        and other.doc #>> '{item,source,supplier}' is not distinct from refused.doc #>> '{item,source,supplier}'
    ) as released_since
  from orders refused
  where doc #>> '{failure,code}' = '${noFundsCode}' and changed_at > now() - interval '1 hour'`

interface Refused {
  readonly id: OrderId
  readonly supplier: string
  readonly amount: string
  readonly changed_at: Date
  readonly released_since: string
}

/** The open amounts that bound what may still be sold. Fast regardless of the number of orders. */
export async function openFacts(database: Database): Promise<OpenFacts> {
  // These amounts first: a payment that arrives meanwhile is counted twice for a moment, never left out.
  const suppliers =
    await database.query<Readonly<Record<'supplier' | keyof OpenAtSupplier, string>>>(suppliersSql)
  const [exposure, refunds, refused] = await Promise.all([
    exposureOf(database),
    database.query<{ refunds: number }>(refundsSql),
    database.query<Refused>(refusedSql),
  ])
  return {
    exposure,
    suppliers: new Map(
      suppliers.rows.map(({ supplier, pending, committed, unconfirmed }) => [
        supplier,
        {
          pending: usdc(pending),
          committed: usdc(committed),
          unconfirmed: usdc(unconfirmed),
        },
      ]),
    ),
    refunds: refunds.rows[0]?.refunds ?? 0,
    fundsRefusals: refused.rows.map(({ id, supplier, amount, changed_at, released_since }) => ({
      reference: supplierReferenceOf(id),
      supplier,
      at: changed_at,
      amount: usdc(amount),
      releasedSince: usdc(released_since),
    })),
  }
}

const checkoutsSql = `
  select state, count(*)::int as checkouts from checkouts where due_at is not null group by state`

const lateSql = `
  select count(*)::int as payouts from processor_payouts where told_at is not null`

export async function checkoutFacts(database: Database): Promise<CheckoutFacts> {
  const [{ rows }, returns, late] = await Promise.all([
    database.query<{ state: CheckoutState; checkouts: number }>(checkoutsSql),
    readOpenReturns(database),
    database.query<{ payouts: number }>(lateSql),
  ])
  return {
    openByState: Object.fromEntries(rows.map(({ state, checkouts }) => [state, checkouts])),
    returnsFailed: returns.filter(({ state }) => state === 'FAILED').length,
    payoutsLate: late.rows[0]?.payouts ?? 0,
    oldestReturnSince: returns[0]?.since,
  }
}

/** A refund in USDC needs two transfers: the payment was settled before. The hours are those since the first, up to 168. */
const paceSql = `
  with ended as (
    select account, -ledger.amount as amount, at, ${supplierSql} as supplier,
      doc #>> '{payment,method}' = 'x402' as is_x402
    from ledger join orders on orders.id = order_id
    where account in ('delivered', 'refunded') and at > now() - interval '7 days'
  )
  select account, supplier, sum(amount)::float8 as amount,
    coalesce(sum(amount) filter (where is_x402), 0)::float8 as usdc,
    (count(*) filter (where is_x402))::int as transfers,
    (select greatest(24, extract(epoch from now() - min(at)) / 3600)::float8 from ended) as hours
  from ended group by account, supplier`

interface PaceRow {
  readonly account: 'delivered' | 'refunded'
  readonly supplier: string
  readonly amount: number
  readonly usdc: number
  readonly transfers: number
  readonly hours: number
}

export async function readPace(database: Database): Promise<Pace> {
  const { rows } = await database.query<PaceRow>(paceSql)
  const delivered = rows.filter(({ account }) => account === 'delivered')
  const refunded = rows.filter(({ account }) => account === 'refunded')
  const hourly = (of: readonly PaceRow[], name: 'usdc' | 'transfers') =>
    of.reduce((sum, row) => sum + row[name] / row.hours, 0)
  return {
    refunds: hourly(refunded, 'usdc'),
    transfers: hourly(delivered, 'transfers') + 2 * hourly(refunded, 'transfers'),
    suppliers: new Map(delivered.map(({ supplier, amount, hours }) => [supplier, amount / hours])),
  }
}

/** `perUsd` is there for other currencies than the dollar. A charge may be in another currency than the list. */
const dearSql = `
  select offer_id as offer, amount::text as price, ceil(charged / case when currency = 'USD' then 1
    when currency = listed ->> 'currency' then (listed ->> 'perUsd')::numeric end * 1000000)::text as cost
  from (
    select offer_id, orders.amount, doc #>> '{charge,currency}' as currency, doc #> '{item,charge}' as listed,
      (doc #>> '{charge,amount}')::numeric / (doc #>> '{charge,divisor}')::numeric as charged
    from ledger join orders on id = order_id
    where account = 'delivered' and at > now() - interval '1 day'
  ) as sold
  where currency <> listed ->> 'currency'
    or charged > (listed ->> 'amount')::numeric / (listed ->> 'divisor')::numeric`

interface DearRow {
  readonly offer: OfferId
  readonly price: string
  readonly cost: string | null
}

export async function readDearSales(database: Database): Promise<readonly DearSale[]> {
  const { rows } = await database.query<DearRow>(dearSql)
  return rows.map(({ offer, price, cost }) => ({
    offer,
    price: usdc(price),
    cost: cost === null ? undefined : usdc(cost),
  }))
}
