import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Figure, figure, quantile } from './figures.ts'
import { leaveOrders } from './open-orders.ts'
import { newDatabase, startParts, withStore } from './shop.ts'

const orders = 20
const endsWithinMs = 60_000

/**
 * How soon an order is finished whose worker died: from the end of its lease, by the clock of the
 * database, to its delivery. The supplier had it ready.
 */
export async function measureSweep(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const databaseUrl = await newDatabase(parts, 'abandoned')
    await leaveOrders(databaseUrl, {
      count: orders,
      mark: 'left',
      leasedSeconds: 3,
      spreadSeconds: 0,
    })
    const delays = await withStore(parts, databaseUrl, () => delaysIn(databaseUrl))
    return [
      figure(
        'An abandoned order, from the end of its lease to its goods, p50',
        quantile(delays, 0.5),
        's',
      ),
      figure('The same, the slowest of 20', quantile(delays, 1), 's', 10),
    ]
  } finally {
    await parts.stop()
  }
}

/** Seconds, once all of them are delivered. A lease that a worker took later is not the one meant. */
async function delaysIn(databaseUrl: string): Promise<readonly number[]> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    const leases = await client.query<{ at: Date }>(
      `select max(locked_until) as at from orders where id like 'ord_left%' and state = 'FULFILLING'`,
    )
    const ended = leases.rows[0]?.at
    const until = performance.now() + endsWithinMs
    while (performance.now() < until) {
      const { rows } = await client.query<{ at: Date }>(
        `select at from order_events where order_id like 'ord_left%' and state = 'FULFILLED'`,
      )
      if (ended && rows.length === orders)
        return rows.map(({ at }) => (at.getTime() - ended.getTime()) / 1_000)
      await delay(50)
    }
    throw new Error('The abandoned orders were not delivered')
  } finally {
    await client.end()
  }
}
