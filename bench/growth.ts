import pg from 'pg'
import { createOrderStore } from '../src/adapters/storage/orders.ts'
import type { Order } from '../src/orders/order.ts'
import { asked } from '../test/contract/order-store-nodes.ts'
import { fulfilled, wayTo } from '../test/contract/sample-orders.ts'
import { type Figure, figure } from './figures.ts'

const orders = 1_000
const atOnce = 8

/** The write-ahead log and the disk that delivered orders take. */
export async function measureGrowth(connectionString: string): Promise<Figure[]> {
  const pool = new pg.Pool({ connectionString, max: atOnce })
  try {
    const before = await sizesOf(pool)
    await Promise.all(Array.from({ length: atOnce }, () => deliver(pool, orders / atOnce)))
    await pool.query('vacuum')
    const after = await sizesOf(pool)
    const grown = (name: keyof typeof after) => (after[name] - before[name]) / 1e6
    return [
      { ...figure(`Disk for ${orders} orders`, grown('disk'), 'MB'), note },
      figure(`Write-ahead log for ${orders} orders`, grown('wal'), 'MB'),
    ]
  } finally {
    await pool.end()
  }
}

const note =
  'Delivered ones, moved by the store, with their events, entries, keys and indexes; tables and indexes as they are after a vacuum. The log is that of the whole server, with its pages in full after each checkpoint.'

async function deliver(pool: pg.Pool, count: number): Promise<void> {
  const store = createOrderStore(pool)
  for (let made = 0; made < count; made += 1) {
    const target = { ...fulfilled(asked()), settlement: 'FINAL' } as const
    const [first, ...moves] = wayTo(target)
    if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
    let order: Order = (await store.open(first, [first.id])).order
    for (const next of moves) order = (await store.move(order, next)).record
  }
}

async function sizesOf(pool: pg.Pool) {
  const { rows } = await pool.query<{ disk: number; wal: number }>(
    `select pg_database_size(current_database())::float8 as disk,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`,
  )
  const [sizes] = rows
  if (!sizes) throw new Error('The database does not tell its size')
  return sizes
}
