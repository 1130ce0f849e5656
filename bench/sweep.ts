import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Figure, figure, quantile } from './figures.ts'
import { leaveOrders } from './open-orders.ts'
import { endless, newDatabase, type Parts, startParts, withStore } from './shop.ts'

const orders = 20
const open = 10_000
const endsWithinMs = 180_000
/** The leases end this long after they are set, while the store is up and sweeps. */
const leaseEndsInMs = 2_000
/** An order has been due for this long when its lease of 45 s ends. */
const leaseSeconds = 45
/** How far behind a node is that looks up 100 of its 10,000 open orders a second. */
const behindSeconds = 100

/**
 * How soon an order is delivered whose worker died: the time from the end of its lease, by the clock of the
 * database, to its delivery. The supplier has the goods ready.
 */
export async function measureSweep(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const alone = await abandonedIn(parts, await newDatabase(parts, 'abandoned'))
    const crowded = await newDatabase(parts, 'abandoned_among_many')
    await leaveOrders(crowded, {
      count: open,
      mark: endless,
      leasedSeconds: 0,
      spreadSeconds: -behindSeconds,
    })
    const among = await abandonedIn(parts, crowded)
    const what = 'An abandoned order, from the end of its lease to its goods'
    return [
      { ...figure(`${what}, p50`, quantile(alone, 0.5), 's'), note },
      figure(`The same, the slowest of ${orders}`, quantile(alone, 1), 's', 10),
      {
        ...figure(`The same among ${open} open orders, p50`, quantile(among, 0.5), 's'),
        note: amongNote,
      },
      figure(`The same, the slowest of ${orders}`, quantile(among, 1), 's', 10),
    ]
  } finally {
    await parts.stop()
  }
}

const note =
  'Rows as a killed worker leaves them, leased and due since before that. By the clock of the database, from the moment the lease ends in a store that runs; the 45 s of the lease itself come before.'
const amongNote =
  'The other orders are never ended by the supplier, and one node is as far behind with them as it gets: it has looked at each once in 100 s.'

/** For each order, the seconds from the end of its lease to its delivery. */
async function abandonedIn(parts: Parts, databaseUrl: string): Promise<readonly number[]> {
  await leaveOrders(databaseUrl, {
    count: orders,
    mark: 'left',
    leasedSeconds: 3_600,
    spreadSeconds: 0,
  })
  return withStore(parts, databaseUrl, () => delaysIn(databaseUrl))
}

async function delaysIn(databaseUrl: string): Promise<readonly number[]> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    const ended = await endLeases(client)
    const until = performance.now() + endsWithinMs
    while (performance.now() < until) {
      const { rows } = await client.query<{ at: Date }>(
        `select at from order_events where order_id like 'ord_left%' and state = 'FULFILLED'`,
      )
      if (rows.length === orders)
        return rows.map(({ at }) => (at.getTime() - ended.getTime()) / 1_000)
      await delay(50)
    }
    throw new Error('The abandoned orders were not delivered')
  } finally {
    await client.end()
  }
}

/** Sets all leases to end at the same moment soon; returns that moment. */
async function endLeases(client: pg.Client): Promise<Date> {
  const { rows } = await client.query<{ at: Date }>(
    `update orders set locked_until = now() + $1 * interval '1 ms',
       due_at = now() + $1 * interval '1 ms' - $2 * interval '1 s'
     where id like 'ord_left%' and state = 'FULFILLING' returning locked_until as at`,
    [leaseEndsInMs, leaseSeconds],
  )
  const [first] = rows
  if (rows.length !== orders || !first) throw new Error(`${rows.length} orders were left`)
  return first.at
}
