import type { State } from '../../orders/order.ts'
import type { OrderFacts } from '../../orders/ports.ts'
import { type Usdc, usdc } from '../../primitives/money.ts'
import type { Database } from './database.ts'

/** Orders that agree in state and refund state. */
interface Group {
  readonly state: State
  readonly refund_state: 'REFUND_PENDING' | 'REFUNDED' | 'REFUND_FAILED' | null
  readonly orders: number
  readonly amount: string
  readonly oldest_open: number | null
}

const groupsSql = `
  select state, refund_state, count(*)::int as orders, sum(amount)::text as amount,
    extract(epoch from
      now() - min(placed_at) filter (where finished_at is null))::float8 as oldest_open
  from orders group by state, refund_state`

/** Counts all orders in one statement, so that the numbers are of one moment and fit together. */
export async function orderFacts(database: Database): Promise<OrderFacts> {
  const { rows } = await database.query<Group>(groupsSql)
  const open = rows.flatMap(({ oldest_open }) => (oldest_open === null ? [] : [oldest_open]))
  const refunds = (state: Group['refund_state']) =>
    countOf(rows.filter(({ refund_state }) => refund_state === state))
  return {
    byState: countsByState(rows),
    // A node whose clock is ahead of the database's makes no order younger than now.
    oldestOpenSeconds: open.length === 0 ? undefined : Math.max(0, ...open),
    refundsPending: refunds('REFUND_PENDING'),
    refundsFailed: refunds('REFUND_FAILED'),
    exposure: amountOf(rows.filter(isExposed)),
  }
}

function countsByState(rows: readonly Group[]): OrderFacts['byState'] {
  const states = [...new Set(rows.map(({ state }) => state))]
  return Object.fromEntries(
    states.map((state) => [state, countOf(rows.filter((row) => row.state === state))]),
  )
}

/** Paid for, and the buyer has neither the goods nor the money back. */
function isExposed({ state, refund_state }: Group): boolean {
  const isUnderWay = state === 'PAID' || state === 'FULFILLING'
  return isUnderWay || refund_state === 'REFUND_PENDING' || refund_state === 'REFUND_FAILED'
}

function countOf(rows: readonly Group[]): number {
  return rows.reduce((sum, { orders }) => sum + orders, 0)
}

function amountOf(rows: readonly Group[]): Usdc {
  return usdc(rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n))
}
