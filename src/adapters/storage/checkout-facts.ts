import type { CheckoutState } from '../../checkouts/checkout.ts'
import type { CheckoutFacts } from '../../checkouts/ports.ts'
import type { Database } from './database.ts'
import { readOpenReturns } from './return-desk.ts'
import { grantedOf } from './treasury.ts'

/** The condition is that of an index, so closed checkouts are not read. */
const openSql = `
  select state, count(*)::int as checkouts from checkouts where due_at is not null group by state`

/** Counts what is under way, however many checkouts are closed. */
export async function checkoutFacts(database: Database): Promise<CheckoutFacts> {
  const [{ rows }, returns, returnsGranted] = await Promise.all([
    database.query<{ state: CheckoutState; checkouts: number }>(openSql),
    readOpenReturns(database),
    grantedOf(database, 'return'),
  ])
  const failed = returns.filter(({ step }) => step === 'FAILED').length
  return {
    openByState: Object.fromEntries(rows.map(({ state, checkouts }) => [state, checkouts])),
    returnsPending: returns.length - failed,
    returnsFailed: failed,
    oldestReturnSince: returns[0]?.since,
    returnsGranted,
  }
}
