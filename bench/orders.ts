import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createOrderStore } from '../src/adapters/storage/orders.ts'
import { asked, orderOnRecord } from '../test/contract/order-store-nodes.ts'
import { fulfilled } from '../test/contract/sample-orders.ts'
import { copyOrder } from '../test/harness/many-orders.ts'
import { buyAgainAndAgain } from './buyer.ts'
import { type Figure, figure, quantile, ratio } from './figures.ts'
import { measureGrowth } from './growth.ts'
import { leaveOrders } from './open-orders.ts'
import {
  type BenchStore,
  endless,
  metricsToken,
  newDatabase,
  type Parts,
  startParts,
  withStore,
} from './shop.ts'

const rounds = 4
const scrapes = 3
/** Enough for a p99 that is not a matter of chance. */
const claims = 3_000
/** How many due orders a node takes at one look, and from how many. */
const taken = 25
const openAtOnce = 200

/** The times of a store on one database; milliseconds. */
interface Took {
  readonly own: number[]
  readonly scrapes: number[]
  readonly claims: number[]
}

/**
 * Whether a store gets slower with many orders. Measures a purchase, a scrape of the metrics and a look of
 * the sweep, alternately on a database with this many finished orders and on one with a single order.
 */
export async function measureOrders(count: number): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const few = await newDatabase(parts, 'few_orders')
    const many = await newDatabase(parts, 'many_orders')
    const growth = await measureGrowth(await newDatabase(parts, 'growth'))
    await fill(few, 0)
    await fill(many, count)
    const without: Took = { own: [], scrapes: [], claims: [] }
    const among: Took = { own: [], scrapes: [], claims: [] }
    for (let round = 0; round < rounds; round += 1) {
      const turns = [() => takeOver(parts, few, without), () => takeOver(parts, many, among)]
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn()
    }
    await claimInTurn([few, without], [many, among])
    return [...figuresOf(count, without, among), ...growth]
  } finally {
    await parts.stop()
  }
}

function figuresOf(count: number, without: Took, among: Took): Figure[] {
  const many = count.toLocaleString('en-US')
  const times = (name: keyof Took, share: number) =>
    quantile(among[name], share) / quantile(without[name], share)
  const scrape = figure(
    `A scrape of /metrics, ${many} orders, p50`,
    quantile(among.scrapes, 0.5),
    'ms',
    50,
  )
  return [
    { ...scrape, note },
    figure('The same with one order, p50', quantile(without.scrapes, 0.5), 'ms'),
    ratio(`A purchase, own part, ${many} orders against one, p50`, times('own', 0.5), 1.1),
    ratio('A look of the sweep, the same, p99', times('claims', 0.99), 1.2),
  ]
}

const note =
  'Finished orders with their payments and entries, copied from one that the store delivered. Each scrape comes after what the page keeps has run out, so it looks at everything anew.'

/** Events and idempotency keys are not copied: nothing measured here reads those of other orders. */
async function fill(connectionString: string, count: number): Promise<void> {
  const pool = new pg.Pool({ connectionString, max: 2 })
  try {
    const delivered = { ...fulfilled(asked()), settlement: 'FINAL' } as const
    const { id } = await orderOnRecord(createOrderStore(pool), delivered)
    await copyOrder(pool, id, count, undefined, ['order_events', 'idempotency_keys'])
    await pool.query('vacuum analyze')
    await pool.query('checkpoint')
  } finally {
    await pool.end()
  }
}

async function takeOver(parts: Parts, databaseUrl: string, took: Took): Promise<void> {
  await withStore(parts, databaseUrl, async (store) => {
    took.scrapes.push(...(await scrapeAnew(store)))
    const { own } = await buyAgainAndAgain(parts, store, { purchases: 70, warmUp: 20 })
    took.own.push(...own)
  })
}

/** The store caches the counts of a scrape for five seconds, so each waits for longer than that. */
async function scrapeAnew({ port }: BenchStore): Promise<number[]> {
  const times: number[] = []
  for (let scrape = 0; scrape <= scrapes; scrape += 1) {
    const startedAt = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
      headers: { authorization: `Bearer ${metricsToken}` },
    })
    const text = await answer.text()
    // The first scrape warms up, and is not counted.
    if (scrape > 0) times.push(performance.now() - startedAt)
    if (!text.includes('kiosk402_orders{')) throw new Error('The metrics lack the orders')
    if (scrape < scrapes) await delay(5_100)
  }
  return times
}

type Over = readonly [databaseUrl: string, took: Took]

/** Alternates between looks at both databases, which get equally many open orders. */
async function claimInTurn(...overs: readonly Over[]): Promise<void> {
  const open = { count: openAtOnce, mark: endless, leasedSeconds: 0, spreadSeconds: -100 }
  for (const [databaseUrl] of overs) await leaveOrders(databaseUrl, open)
  const pools = overs.map(([connectionString]) => new pg.Pool({ connectionString, max: 1 }))
  try {
    for (let claim = 0; claim < claims; claim += 1) {
      for (const [at, [, took]] of overs.entries()) {
        const pool = pools[at]
        if (pool) took.claims.push(await claimOnce(pool))
      }
    }
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

async function claimOnce(pool: pg.Pool): Promise<number> {
  const startedAt = performance.now()
  const due = await createOrderStore(pool).claimDue(taken, 'x402')
  const took = performance.now() - startedAt
  if (due.length !== taken) throw new Error(`${due.length} orders were due`)
  await pool.query(
    `update orders set due_at = now() - interval '1 minute', locked_until = now() - interval '1 second'
     where id = any ($1::text[])`,
    [due.map(({ id }) => id)],
  )
  return took
}
