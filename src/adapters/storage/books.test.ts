import fc from 'fast-check'
import type { Pool, PoolClient } from 'pg'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { memoryOrders } from '../../../test/doubles/memory-orders.ts'
import { anyLife, isSigned } from '../../../test/fixtures/any-life.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  paid,
  pending,
  refunded,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import { type Account, balancesOf, type Entry, entriesOf, type Order } from '../../orders/order.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { book, overwrite, transaction } from './by-hand.fixture.ts'
import { addUpEnds, orderFacts } from './facts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'
import { createStoreRecord } from './record.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})

const endless = usdc(10n ** 30n)

/** Records an order through the store, one move after the other; `beside` happens during each. */
async function live(
  [first, ...rest]: readonly Order[],
  memory?: OrderStore,
  beside: () => Promise<unknown> = async () => {},
): Promise<Order> {
  const store = createOrderStore(pool)
  const payoutLimits = createPayoutLimits(pool, { hour: endless, day: endless })
  if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
  let order: Order = (await store.open(first, [])).order
  await memory?.open(first, [])
  for (const next of rest) {
    if (isSigned(next)) expect(await payoutLimits.allow(order.id)).toBe('granted')
    const to = { ...next, version: order.version }
    const [moved] = await Promise.all([store.move(order, to), beside()])
    if (memory) expect(await memory.move(order, to)).toEqual(moved)
    order = expectWon(moved)
  }
  return order
}

/** Expects that `work` succeeds and the commit is refused. */
async function expectRefusedAtCommit(work: (client: PoolClient) => Promise<unknown>) {
  let isDone = false
  const refused = transaction(pool, async (client) => {
    await work(client)
    isDone = true
  })
  await expect(refused).rejects.toThrow('its ledger says')
  expect(isDone).toBe(true)
}

async function bookedOf(order: Order): Promise<Record<string, bigint>> {
  const { rows } = await pool.query<{ account: Account; sum: string }>(
    `select account, sum(amount)::text as sum from ledger where order_id = $1
     group by account having sum(amount) <> 0`,
    [order.id],
  )
  return Object.fromEntries(rows.map(({ account, sum }) => [account, BigInt(sum)]))
}

function balancesByAccount(order: Order): Record<string, bigint> {
  return Object.fromEntries(balancesOf(order).map(({ account, amount }) => [account, amount]))
}

const waiting = () => live(wayTo(asked()))

describe('the ledger', () => {
  const steps: readonly (readonly [string, () => readonly Order[]])[] = [
    ['a payment', () => wayTo(paid(pending()))],
    ['a delivery', () => wayTo(fulfilled(asked()))],
    ['a refund', () => wayTo(refunded(failed(asked())))],
    ['a loss', () => wayTo({ ...failed(asked()), settlement: 'LOST' })],
  ]

  it.each(steps)(
    'takes the move of %s with its entries alone, in one transaction',
    async (_, way) => {
      const life = way()
      const to = life.at(-1) as Order
      const order = await live(life.slice(0, -1))
      await expectRefusedAtCommit((client) => overwrite(client, order, to))
      const right = entriesOf(order, to)
      const wrongs: readonly (readonly Entry[])[] = [
        right.map(({ account, amount }) => ({
          account,
          amount: amount + (amount > 0n ? 1n : -1n),
        })),
        right.map(({ account, amount }) => ({ account, amount: -amount })),
        right.slice(1),
        right.map(({ amount }, index) => ({
          account: index === 0 ? 'delivered' : 'refunded',
          amount,
        })),
      ]
      for (const wrong of wrongs) {
        await expectRefusedAtCommit(async (client) => {
          await overwrite(client, order, to)
          await book(client, order, order.version + 1, wrong)
        })
      }
      expect(await bookedOf(order)).toEqual(balancesByAccount(order))
      // The order of the two writes does not matter: the books are checked at the commit.
      await transaction(pool, async (client) => {
        await book(client, order, order.version + 1, right)
        await overwrite(client, order, to)
      })
      expect(await bookedOf(order)).toEqual(balancesByAccount(to))
    },
  )

  it('takes no entry that no move made', async () => {
    const order = await waiting()
    const hands: readonly (readonly Entry[])[] = [
      [{ account: 'received', amount: 1n }],
      [{ account: 'refunded', amount: -order.amount }],
      // These sum to zero, but claim a delivery.
      [
        { account: 'open', amount: order.amount },
        { account: 'delivered', amount: -order.amount },
      ],
    ]
    for (const entries of hands) {
      await expectRefusedAtCommit((client) => book(client, order, 99, entries))
    }
  })

  it('knows its four accounts and no entry of nothing', async () => {
    const order = await waiting()
    const entry = (account: string, amount: bigint) =>
      transaction(pool, (client) =>
        book(client, order, 99, [{ account: account as Account, amount }]),
      )
    await expect(entry('bribes', 1n)).rejects.toThrow('ledger_account_check')
    await expect(entry('open', 0n)).rejects.toThrow('ledger_amount_check')
  })
})

test('after any lives the books of each order and of all balance, and the counts are those of a full count', async () => {
  pool = await postgres.open()
  // The store in memory, which other tests use, moves alike.
  const memory = memoryOrders(() => new Date(Date.now() + days * 86_400_000))
  let days = 0
  const ended: Record<string, number> = {}
  // At least one order is delivered, however the others end.
  const orders = [await live(wayTo(fulfilled(asked())), memory)]
  ended['FULFILLED'] = 1
  /** Lets two days pass, and deletes orders that were never paid. */
  const forget = async () => {
    days += 2
    await pool.query(`begin; set local session_replication_role = replica;
      update orders set finished_at = finished_at - interval '2 days'; commit`)
    const before = new Date(Date.now() + days * 86_400_000)
    const forgotten = await createOrderStore(pool).forgetNeverPaid(before)
    expect(await memory.forgetNeverPaid(before)).toBe(forgotten)
  }
  const meanwhile = fc.constantFrom('added up', 'forgotten', 'nothing')
  const lives = fc.asyncProperty(anyLife(), meanwhile, async (life, happens) => {
    const addUp = () => (happens === 'added up' ? addUpEnds(pool) : Promise.resolve())
    const order = await live(life, memory, addUp)
    orders.push(order)
    expect(await bookedOf(order)).toEqual(balancesByAccount(order))
    if (ends.includes(order.state)) ended[order.state] = (ended[order.state] ?? 0) + 1
    if (happens === 'forgotten') await forget()
    const { byState, ended: counted } = await orderFacts(pool)
    expect(byState).toEqual(await fullCount())
    expect(byState).toEqual(countsOf(memory.current()))
    expect(counted).toEqual(ended)
  })
  await fc.assert(lives, { numRuns: 60 })
  await addUpEnds(pool)
  const { rows } = await pool.query('select state from order_ends')
  expect(rows).toHaveLength(Object.keys(ended).length)

  const all = await createStoreRecord(pool).ledger('x402')
  expect(all).toEqual({ ...none, ...orders.flatMap(balancesOf).reduce(added, {}) })
  expect(all.received + all.open + all.delivered + all.refunded).toBe(0n)
  expect(all).not.toEqual(none)
})

const none = { received: 0n, open: 0n, delivered: 0n, refunded: 0n }
const ends: readonly string[] = ['PAYMENT_FAILED', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED']

type Sums = Readonly<Partial<Record<Account, bigint>>>

function added(sums: Sums, { account, amount }: Entry): Sums {
  return { ...sums, [account]: (sums[account] ?? 0n) + amount }
}

function countsOf(orders: readonly Order[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of orders) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

async function fullCount(): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ state: string; count: number }>(
    'select state, count(*)::int from orders group by state',
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
