import { returnOfReference } from '../../checkouts/checkout.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import { orderOfGoodwill } from '../../orders/goodwill.ts'
import type { Allowance, PayoutLimits } from '../../orders/ports.ts'
import type { Database } from './database.ts'

/** The most that may be granted within an hour and a day for refunds, for returns and for goodwill each; atomic USDC. */
export interface RefundCaps {
  readonly hour: Usdc
  readonly day: Usdc
}

/**
 * Counts grants and keeps the switch in the database, so that all nodes count together and stop together.
 * The functions there read the amount from the order or the checkout itself.
 */
export function createPayoutLimits(database: Database, caps: RefundCaps): PayoutLimits {
  return {
    async allow(reference) {
      const { sql, about } = questionOf(reference)
      const values = [caps.hour.toString(), caps.day.toString(), ...about]
      const { rows } = await database.query<{ allowed: Allowance }>(
        `select ${sql} as allowed`,
        values,
      )
      const [row] = rows
      if (!row) throw new Error(`The database gave no answer for the payout ${reference}`)
      return row.allowed
    },
  }
}

/** The function that answers for a payout, and what it is told of it. */
function questionOf(reference: string) {
  const one = returnOfReference(reference)
  if (one) return { sql: 'allow_return($3, $4, $1, $2)', about: [one.id, one.seq] }
  const order = orderOfGoodwill(reference)
  return order === undefined
    ? { sql: 'allow_refund($3, $1, $2)', about: [reference] }
    : { sql: 'allow_goodwill($3, $1, $2)', about: [order] }
}

const grantedSql = `
  select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0)::text as hour,
    coalesce(sum(amount), 0)::text as day
  from grants where kind = $1 and granted_at > now() - interval '1 day'`

/** What the caps count of one kind now: refunds of orders, returns of checkouts, or goodwill. */
export async function grantedOf(
  database: Database,
  kind: 'refund' | 'return' | 'goodwill',
): Promise<{ readonly hour: Usdc; readonly day: Usdc }> {
  const { rows } = await database.query<{ hour: string; day: string }>(grantedSql, [kind])
  const { hour = '0', day = '0' } = rows[0] ?? {}
  return { hour: usdc(hour), day: usdc(day) }
}

/** A turn of the switch for refunds. */
export interface SwitchTurn {
  readonly stopped: boolean
  readonly reason?: string | undefined
  readonly by: string
}

/** Stops or resumes all refunds, returns and goodwill, at once and on every node. Every turn stays on record. */
export async function switchRefunds(
  database: Database,
  { stopped, reason, by }: SwitchTurn,
): Promise<void> {
  const { rowCount } = await database.query(
    `update refund_switch
     set stopped = $1, reason = $2, changed_by = $3, changed_at = clock_timestamp()`,
    [stopped, reason ?? null, by],
  )
  if (rowCount !== 1) throw new Error('The switch for refunds is missing')
}
