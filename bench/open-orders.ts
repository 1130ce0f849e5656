import pg from 'pg'
import { createOrderStore } from '../src/adapters/storage/orders.ts'
import { usdc } from '../src/lib/money.ts'
import { asked } from '../test/contract/order-store-nodes.ts'
import { wayTo } from '../test/contract/sample-orders.ts'

/** Orders that are paid and placed at the supplier, and that no worker holds at the moment. */
export interface LeftOrders {
  readonly count: number
  /** The beginning of their ids after `ord_`; four letters. */
  readonly mark: string
  /** Seconds until the leases of their last workers end; 0 if the leases were released. */
  readonly leasedSeconds: number
  /** Their due times are spread over this many seconds from now on; if negative, over the past. */
  readonly spreadSeconds: number
}

/**
 * Moves one order through its states, and copies it with its payment and its ledger entries. As in a
 * running store, a released order is due when its last lease ended, or later.
 */
export async function leaveOrders(databaseUrl: string, left: LeftOrders): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  try {
    const original = await firstOrder(pool)
    const { count, mark, leasedSeconds, spreadSeconds } = left
    await pool.query(copySql, [original, count, `ord_${mark}`, leasedSeconds, spreadSeconds])
    await pool.query('vacuum analyze')
  } finally {
    await pool.end()
  }
}

async function firstOrder(pool: pg.Pool): Promise<string> {
  const paidAt = new Date()
  const [first, ...moves] = wayTo({
    // Small enough that the wallet for refunds covers ten thousand of them.
    ...asked({ placedAt: paidAt, amount: usdc(500_000n) }),
    settlement: 'FINAL',
    paidAt,
    askedAt: paidAt,
    deliverBy: new Date(paidAt.getTime() + 3_600_000),
  })
  if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
  const orders = createOrderStore(pool)
  let { order } = await orders.open(first, [])
  for (const next of moves) order = (await orders.move(order, next)).record
  return order.id
}

const copySql = `
  with template as (select to_jsonb(orders) as fields from orders where id = $1),
  copied as (
    insert into orders
    select made.*
    from template, generate_series(1, $2::integer) as n,
      lateral (select $3 || lpad(n::text, 22, '0') as id,
        now() + n * $5 * interval '1 s' / $2 as due_at) as copy,
      jsonb_populate_record(null::orders, fields || jsonb_build_object(
        'id', copy.id, 'payment_id', 'pay' || substr(copy.id, 4),
        'doc', fields -> 'doc' || jsonb_build_object('id', copy.id),
        'write_id', gen_random_uuid(), 'due_at', due_at, 'locked_until',
        case when $4 > 0 then now() + $4 * interval '1 s' else least(now(), due_at) end)) as made
    returning id
  ), paid as (
    insert into payments select 'key of ' || id, id from copied
  )
  insert into ledger (order_id, seq, account, amount, at)
    select copied.id, seq, account, amount, at from copied, ledger where order_id = $1`
