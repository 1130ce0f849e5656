import type { Checkout } from '../../checkouts/checkout.ts'
import { type CheckoutAccount, checkoutAccounts } from '../../checkouts/ledger.ts'
import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import type { Coin } from '../../payments/coins.ts'
import type { CheckoutRecord, CoinSums, MisbookedCheckout } from '../../reconcile/ports.ts'
import { checkoutColumns, checkoutOf, type StoredCheckout } from './checkout-row.ts'
import type { Database } from './database.ts'

/** Checkouts per query: a few megabytes. */
const pageSize = 1_000

/** Reads the recorded checkouts, to compare them with their orders and invoices. */
export function createCheckoutRecord(database: Database): CheckoutRecord {
  return {
    all: () => all(database),
    strayOrders: () => strayOrders(database),
    ledger: () => ledger(database),
    misbooked: () => misbooked(database),
  }
}

async function* all(database: Database): AsyncGenerator<readonly Checkout[]> {
  let after = ''
  for (;;) {
    const { rows } = await database.query<StoredCheckout>(
      `select ${checkoutColumns} from checkouts where id > $1 order by id limit $2`,
      [after, pageSize],
    )
    const page = rows.map(checkoutOf)
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.id
  }
}

async function strayOrders(database: Database): Promise<readonly OrderId[]> {
  const { rows } = await database.query<{ id: OrderId }>(
    `select id from orders where doc #>> '{tender,rail}' = 'btcpay' and not exists (
       select from checkouts where order_id = orders.id and state = 'ORDERED')
     order by id`,
  )
  return rows.map(({ id }) => id)
}

async function ledger(database: Database): Promise<ReadonlyMap<Coin, CoinSums>> {
  type Row = { coin: Coin; account: CheckoutAccount; sum: string }
  const { rows } = await database.query<Row>(
    `select coin, account, sum(units)::text as sum
     from checkout_ledger join checkouts on id = checkout_id
     group by coin, account order by coin`,
  )
  const byCoin = new Map<Coin, CoinSums>()
  for (const { coin, account, sum } of rows) {
    byCoin.set(coin, { ...(byCoin.get(coin) ?? noSums()), [account]: BigInt(sum) })
  }
  return byCoin
}

function noSums(): CoinSums {
  return Object.fromEntries(checkoutAccounts.map((account) => [account, 0n])) as unknown as CoinSums
}

/** Checks for all checkouts, at one moment, the rule that the database enforces at every commit. */
const misbookedSql = `
  with booked as (
    select checkout_id, account, sum(units) as sum from checkout_ledger
    group by checkout_id, account having sum(units) <> 0
  ), entries as (
    select id, account, sum from checkouts, lateral (values
      ('received', settled),
      ('price', -coalesce(price, 0)),
      ('returned', -returned),
      (case when finished_at is null then 'due' else 'kept' end,
        returned + coalesce(price, 0) - settled)) as due (account, sum)
    where sum <> 0
  )
  select coalesce(checkout_id, entries.id) as checkout, coin,
    coalesce(booked.account, entries.account) as account,
    coalesce(booked.sum, 0)::text as booked, coalesce(entries.sum, 0)::text as due
  from booked full join entries
      on entries.id = checkout_id and entries.account = booked.account
    join checkouts on checkouts.id = coalesce(checkout_id, entries.id)
  where booked.sum is distinct from entries.sum
  order by 1, 3`

async function misbooked(database: Database): Promise<readonly MisbookedCheckout[]> {
  type Row = {
    checkout: CheckoutId
    coin: Coin
    account: CheckoutAccount
    booked: string
    due: string
  }
  const { rows } = await database.query<Row>(misbookedSql)
  return rows.map(({ booked, due, ...row }) => ({
    ...row,
    booked: BigInt(booked),
    due: BigInt(due),
  }))
}
