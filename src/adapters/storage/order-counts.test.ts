import fc from 'fast-check'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { anyLife, isSigned } from '../../../test/contract/any-life.ts'
import { orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  pending,
  wayTo,
} from '../../../test/contract/sample-orders.ts'
import { memoryOrders } from '../../../test/doubles/memory-orders.ts'
import { copyOrder } from '../../../test/harness/many-orders.ts'
import { usdc } from '../../lib/money.ts'
import type { In, Order } from '../../orders/order.ts'
import type { Database } from './database.ts'
import { addUpEnds, checkoutFacts, openFacts, orderFacts } from './facts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

const postgres = migratedPostgres()

type Counts = Record<string, number>

const ends: readonly string[] = ['PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED']

/** A store in PostgreSQL and one in memory, with the same orders. */
function twoStores(database: Pool) {
  let days = 0
  const later = () => new Date(Date.now() + days * 86_400_000)
  const memory = memoryOrders(later)
  const stores = [createOrderStore(database), memory] as const
  const endless = usdc(10n ** 30n)
  const payoutLimits = createPayoutLimits(database, { hour: endless, day: endless })
  return {
    memory,
    async live([first, ...moves]: readonly Order[], beside: () => Promise<unknown>) {
      let { order } = await stores[0].open(first as In<'PAYMENT_PENDING'>, [])
      await memory.open(first as In<'PAYMENT_PENDING'>, [])
      for (const next of moves) {
        if (isSigned(next)) await payoutLimits.allow(order.id)
        const to = { ...next, version: order.version }
        const [moved] = await Promise.all([stores[0].move(order, to), beside()])
        // The double of the other tests answers as PostgreSQL.
        expect(await memory.move(order, to)).toEqual(moved)
        order = moved.record
      }
      return order
    },
    /** Lets two days pass for both, and deletes orders that were never paid. */
    async forget() {
      days += 2
      await database.query(`begin; set local session_replication_role = replica;
        update orders set finished_at = finished_at - interval '2 days'; commit`)
      const [one, other] = await Promise.all(stores.map((store) => store.forgetNeverPaid(later())))
      expect(one).toBe(other)
    },
  }
}

function countsOf(orders: readonly Order[]): Counts {
  const counts: Counts = {}
  for (const { state } of orders) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

async function fullCount(database: Pool): Promise<Counts> {
  const { rows } = await database.query<{ state: string; count: number }>(
    'select state, count(*)::int from orders group by state',
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

test('after any moves the counts are those of a full count, also of the store in memory', async () => {
  const database = await postgres.open()
  const { memory, live, forget } = twoStores(database)
  const ended: Counts = {}
  const meanwhile = fc.constantFrom('added up', 'forgotten', 'nothing')
  const lives = fc.asyncProperty(anyLife(), meanwhile, async (life, happens) => {
    const addUp = () => (happens === 'added up' ? addUpEnds(database) : Promise.resolve())
    const { state } = await live(life, addUp)
    if (ends.includes(state)) ended[state] = (ended[state] ?? 0) + 1
    if (happens === 'forgotten') await forget()
    const facts = await orderFacts(database)
    expect(facts.byState).toEqual(await fullCount(database))
    expect(facts.byState).toEqual(countsOf(memory.current()))
    expect(facts.ended).toEqual(ended)
  })
  await fc.assert(lives, { numRuns: 40 })
  await addUpEnds(database)
  const { rows } = await database.query('select state from order_ends')
  expect(rows).toHaveLength(Object.keys(ended).length)
})

test('what is added up at once by several is counted once', async () => {
  const [one, other] = await postgres.openForTwo()
  const store = createOrderStore(one)
  const delivered = () => orderOnRecord(store, fulfilled(fulfilling(paid(pending()))))
  for (let round = 0; round < 5; round += 1) {
    const adding = [one, other, one, other].map(addUpEnds)
    await Promise.all([...adding, delivered(), delivered()])
  }
  expect((await orderFacts(other)).ended).toEqual({ FULFILLED: 10 })
})

test('with many orders, neither what the store looks at nor what it forgets reads them all', async () => {
  const database = await postgres.open()
  const store = createOrderStore(database)
  const [first, ...moves] = wayTo({
    ...fulfilled(fulfilling(paid(pending()))),
    settlement: 'FINAL',
  })
  let { order } = await store.open(first as In<'PAYMENT_PENDING'>, ['a key'])
  for (const next of moves) order = (await store.move(order, next)).record
  await copyOrder(database, order.id, 8_000)
  await orderOnRecord(store, failed(fulfilling(paid(pending()))))

  const plans: string[] = []
  const planned = planning(database, plans)
  expect((await orderFacts(planned)).byState).toEqual({ FULFILLED: 8_001, FULFILLMENT_FAILED: 1 })
  await checkoutFacts(planned)
  await openFacts(planned)
  const soon = new Date(Date.now() + 60_000)
  expect(await createOrderStore(planned).forgetKeys(soon, AbortSignal.abort())).toBe(500)
  expect(await createOrderStore(planned).forgetKeys(soon)).toBe(7_501)
  await createOrderStore(planned).erasePersonal(new Date(Date.now() - 360 * 86_400_000))
  expect(plans.length).toBeGreaterThan(20)
  const reading = /Seq Scan on (orders|idempotency_keys|order_events|ledger)/
  expect(plans.filter((plan) => reading.test(plan))).toEqual([])
})

/** The same database, which records the plan of each statement before running it. */
function planning(database: Pool, plans: string[]): Database {
  const query = async (asked: string | { text: string; values: unknown[] }, values?: unknown[]) => {
    const statement = typeof asked === 'string' ? { text: asked, values: values ?? [] } : asked
    const { rows } = await database.query(`explain ${statement.text}`, statement.values)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    return database.query(statement)
  }
  return { query } as unknown as Database
}
