import type { CheckoutState } from '../../checkouts/checkout.ts'
import type { CheckoutFacts } from '../../checkouts/ports.ts'
import type { OfferId, OrderId } from '../../lib/ids.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { DearSale, Pace } from '../../operations/ports.ts'
import { supplierReferenceOf } from '../../orders/order.ts'
import {
  nothingOpen,
  type OpenAtSupplier,
  type OpenFacts,
  type OrderFacts,
} from '../../orders/ports.ts'
import { noFundsCode } from '../../suppliers/supplier.ts'
import type { Database } from './database.ts'
import { goodwillOpenSql } from './goodwill.ts'
import { readOpenReturns, switchSql } from './payouts.ts'

/** One statement for one moment; its conditions match those of indexes. A delivered order may still be due. */
const countsSql = `
  with ends as (
    select state, sum(came)::float8 as came, sum(came - gone)::float8 as orders
    from order_ends group by state
  )
  select
    (select jsonb_object_agg(state, orders) from (
      select state, orders from ends where orders > 0
      union all
      select state, count(*) from orders where state = 'PAYMENT_PENDING' group by state
      union all
      select state, count(*) from orders where state in ('PAID', 'FULFILLING') group by state
    ) as counted) as by_state,
    (select jsonb_object_agg(state, came) from ends) as ended,
    (select count(*)::int from orders
      where refund_state = 'REFUND_FAILED' and settlement is distinct from 'LOST') as failed,
    (select count(*)::int from goodwill where ${goodwillOpenSql} and doc #>> '{payout,state}' = 'FAILED') as goodwill_failed,
    (select extract(epoch from now() - min(placed_at))::float8 from orders
      where due_at is not null and outcome is distinct from 'DELIVER'
        and refund_state is distinct from 'REFUNDED') as oldest_open`

interface Counts {
  readonly by_state: OrderFacts['byState'] | null
  readonly ended: OrderFacts['ended'] | null
  readonly failed: number
  readonly goodwill_failed: number
  readonly oldest_open: number | null
}

const exposureSql = `
  select coalesce(sum(amount), 0)::text as exposure from (
    select amount from orders
    where outcome is distinct from 'DELIVER' and refund_state is distinct from 'REFUNDED'
      and state not in ('PAYMENT_PENDING', 'PAYMENT_FAILED') and settlement is distinct from 'LOST'
      and doc #>> '{payment,method}' = 'x402'
    union all
    select amount from goodwill where ${goodwillOpenSql} and doc #>> '{payment,method}' = 'x402') as open`

export async function orderFacts(database: Database): Promise<OrderFacts> {
  const [countsResult, exposure, refundSwitch] = await Promise.all([
    database.query<Counts>(countsSql),
    exposureOf(database),
    database.query<{ stopped: boolean }>(switchSql),
  ])
  const counts = countsResult.rows[0]
  const oldest = counts?.oldest_open ?? undefined
  return {
    byState: counts?.by_state ?? {},
    ended: counts?.ended ?? {},
    // The age is negative if the order was placed by a clock ahead of the database's.
    oldestOpenSeconds: oldest === undefined ? undefined : Math.max(0, oldest),
    refundsFailed: counts?.failed ?? 0,
    goodwillFailed: counts?.goodwill_failed ?? 0,
    exposure,
    refundsStopped: refundSwitch.rows[0]?.stopped ?? false,
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

const pendingSql = `
  select ${supplierSql} as supplier, sum(amount)::text as amount from orders
  where due_at is not null and state = 'PAYMENT_PENDING' and doc #>> '{payment,method}' = 'x402'
  group by 1`
/** By supplier, the price of checkouts whose payment is not confirmed. Its payer can still replace the transaction. */
const unconfirmedSql = `
  select ${supplierSql} as supplier, sum(amount)::text as amount from checkouts
  where due_at is not null and state = 'OPEN' and doc #>> '{invoice,status}' = 'PROCESSING' group by 1`
/** An order in a coin was paid before it was opened, so its pending state counts. */
const committedSql = `
  select ${supplierSql} as supplier, sum(amount)::text as amount from (
    select amount, doc from orders where state in ('PAID', 'FULFILLING')
    union all
    select amount, doc from orders where due_at is not null and state = 'PAYMENT_PENDING'
      and doc #>> '{payment,method}' = 'btcpay'
    union all
    select amount, doc from orders where doc #>> '{supply,state}' = 'OPEN'
    union all
    select amount, doc from checkouts where due_at is not null and (is_placed = false
      or state = 'OPEN' and doc #>> '{invoice,status}' = 'SETTLED')
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

interface AtSupplier {
  readonly supplier: string
  readonly amount: string
}

type Refused = AtSupplier & {
  readonly id: OrderId
  readonly changed_at: Date
  readonly released_since: string
}

/** The open amounts that bound what may still be sold. Fast regardless of the number of orders. */
export async function openFacts(database: Database): Promise<OpenFacts> {
  // Unpaid amounts first: a payment that arrives meanwhile is counted twice for a moment, never left out.
  const [pending, unconfirmed] = await Promise.all([
    database.query<AtSupplier>(pendingSql),
    database.query<AtSupplier>(unconfirmedSql),
  ])
  const [exposure, committed, refunds, refused] = await Promise.all([
    exposureOf(database),
    database.query<AtSupplier>(committedSql),
    database.query<{ refunds: number }>(refundsSql),
    database.query<Refused>(refusedSql),
  ])
  return {
    exposure,
    suppliers: bySupplier({
      pending: pending.rows,
      committed: committed.rows,
      unconfirmed: unconfirmed.rows,
    }),
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

function bySupplier(
  sums: Readonly<Record<keyof OpenAtSupplier, readonly AtSupplier[]>>,
): OpenFacts['suppliers'] {
  const all = new Map<string, OpenAtSupplier>()
  for (const [name, rows] of Object.entries(sums)) {
    for (const { supplier, amount } of rows) {
      const current = all.get(supplier) ?? nothingOpen
      all.set(supplier, { ...current, [name]: usdc(amount) })
    }
  }
  return all
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
