import type { CheckoutState } from '../../checkouts/checkout.ts'
import type { CheckoutFacts } from '../../checkouts/ports.ts'
import type { Database } from './database.ts'
import { grantedOf } from './payout-limits.ts'
import { readOpenReturns } from './payout-queue.ts'

/** The condition matches that of an index, so closed checkouts are not read. */
const openSql = `
  select state, count(*)::int as checkouts from checkouts where due_at is not null group by state`

/** This condition matches that of an index too. */
const lateSql = `
  select count(*)::int as payouts from processor_payouts where told_at is not null`

/** Counts of open checkouts and returns. Fast regardless of the number of closed checkouts. */
export async function checkoutFacts(database: Database): Promise<CheckoutFacts> {
  const [{ rows }, returns, late, returnsGranted] = await Promise.all([
    database.query<{ state: CheckoutState; checkouts: number }>(openSql),
    readOpenReturns(database),
    database.query<{ payouts: number }>(lateSql),
    grantedOf(database, 'return'),
  ])
  const failed = returns.filter(({ state }) => state === 'FAILED').length
  return {
    openByState: Object.fromEntries(rows.map(({ state, checkouts }) => [state, checkouts])),
    returnsPending: returns.length - failed,
    returnsFailed: failed,
    payoutsLate: late.rows[0]?.payouts ?? 0,
    oldestReturnSince: returns[0]?.since,
    returnsGranted,
  }
}
