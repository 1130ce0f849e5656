import pg from 'pg'
import { migrate } from '../src/adapters/storage/migrate.ts'
import { createOrderStore } from '../src/adapters/storage/orders.ts'
import type { OrderId } from '../src/lib/ids.ts'
import { asked, fulfilled, orderOnRecord } from '../test/fixtures/sample-orders.ts'
import { copyOrder } from '../test/harness/many-orders.ts'
import { startRealParts } from '../test/harness/real-parts.ts'
import { type Figure, figure, median, quantile, timesOf } from './table.ts'

const lookups = 2_000

/** Whether an order is found as fast among many finished ones as in an empty store. */
export async function measureOrders(count: number): Promise<Figure[]> {
  const parts = await startRealParts({ offers: 60, stepMs: 1 })
  try {
    const alone = await lookUp(await parts.newDatabase(), 0)
    const among = await lookUp(await parts.newDatabase(), count)
    const what = `An order by its id among ${count.toLocaleString('en-US')}`
    const ratio = median(among) / median(alone)
    return [
      figure(`${what}, p50`, median(among), 'ms'),
      figure(`${what}, p99`, quantile(among, 0.99), 'ms', { most: 20 }),
      figure('The same against the only order, p50', ratio, 'times', { most: 1.5 }),
    ]
  } finally {
    await parts.stop()
  }
}

async function lookUp(connectionString: string, copies: number): Promise<readonly number[]> {
  const pool = new pg.Pool({ connectionString, max: 2 })
  try {
    await migrate(pool)
    const orders = createOrderStore(pool)
    const { id } = await orderOnRecord(orders, { ...fulfilled(asked()), settlement: 'FINAL' })
    await copyOrder(pool, id, copies, ['order_events', 'idempotency_keys'])
    await pool.query('vacuum analyze')
    const sql = 'select id from orders order by random() limit $1'
    const { rows } = await pool.query<{ id: OrderId }>(sql, [lookups])
    const ids = Array.from({ length: lookups }, (_, at) => rows[at % rows.length]?.id ?? id)
    return await timesOf(ids, (one) => orders.find(one))
  } finally {
    await pool.end()
  }
}
