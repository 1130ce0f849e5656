import type { Refund } from '../../orders/order.ts'
import type { OrderId } from '../../primitives/ids.ts'
import { type Usdc, usdc } from '../../primitives/money.ts'
import type { Database } from './database.ts'

/** A refund that is owed and not paid yet. Nothing is owed for a payment that vanished for good. */
export interface OpenRefund {
  readonly order: OrderId
  readonly amount: Usdc
  readonly payee: string
  readonly step: Exclude<Refund['step'], 'REFUNDED'>
  /** Why it could not be paid, where it has failed. */
  readonly code: string | null
  /** When it was decided that the money goes back. */
  readonly since: Date
}

/** What an operator sees of refunds, at one moment. */
export interface RefundDesk {
  readonly turned: {
    readonly stopped: boolean
    readonly reason: string | null
    readonly by: string | null
    readonly at: Date
  }
  /** What the caps count. */
  readonly granted: { readonly hour: Usdc; readonly day: Usdc }
  /** The oldest first. */
  readonly open: readonly OpenRefund[]
}

const switchSql = `
  select stopped, reason, changed_by as by, changed_at as at from refund_switch`

const grantedSql = `
  select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0)::text as hour,
    coalesce(sum(amount), 0)::text as day
  from grants where granted_at > now() - interval '1 day'`

/** The condition is that of an index, so it reads as many orders as it gives. */
const openSql = `
  select id, amount::text, doc #>> '{tender,payer}' as payee, doc #>> '{refund,step}' as step,
    doc #>> '{refund,code}' as code, since.at as since
  from orders, lateral (
    select min(at) as at from order_events where order_id = orders.id and refund_step is not null
  ) as since
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED') and settlement is distinct from 'LOST'
  order by since.at, id`

interface OpenRow {
  readonly id: OrderId
  readonly amount: string
  readonly payee: string
  readonly step: OpenRefund['step']
  readonly code: string | null
  readonly since: Date
}

/** Reads over all refunds that are not paid. @throws when the switch is missing */
export async function readRefundDesk(database: Database): Promise<RefundDesk> {
  const [turns, granted, open] = await Promise.all([
    database.query<RefundDesk['turned']>(switchSql),
    database.query<{ hour: string; day: string }>(grantedSql),
    database.query<OpenRow>(openSql),
  ])
  const [turned] = turns.rows
  if (!turned) throw new Error('The switch for refunds is missing')
  const { hour = '0', day = '0' } = granted.rows[0] ?? {}
  return {
    turned,
    granted: { hour: usdc(hour), day: usdc(day) },
    open: open.rows.map(({ id, amount, ...rest }) => ({
      order: id,
      amount: usdc(amount),
      ...rest,
    })),
  }
}
