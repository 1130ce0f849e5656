import fc from 'fast-check'
import type { Pool, PoolClient } from 'pg'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { anyLife, isSigned } from '../../../test/contract/any-life.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  pending,
  refunded,
  wayTo,
} from '../../../test/contract/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import { type Account, balancesOf, type Entry, entriesOf } from '../../orders/ledger.ts'
import type { Order } from '../../orders/order.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { columnsOf, createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})

const endless = usdc(10n ** 30n)

/** Records an order through the store, one move after the other. */
async function live(life: readonly Order[]): Promise<Order> {
  const store = createOrderStore(pool)
  const payoutLimits = createPayoutLimits(pool, { hour: endless, day: endless })
  const [first, ...rest] = life
  if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
  let order: Order = (await store.open(first, [])).order
  for (const next of rest) {
    if (isSigned(next)) expect(await payoutLimits.allow(order.id)).toBe('granted')
    const moved = await store.move(order, { ...next, version: order.version })
    expect(moved.won).toBe(true)
    order = moved.record
  }
  return order
}

/** Runs `work` in one transaction. */
async function transaction(work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

/** Expects that `work` succeeds and the commit is refused. */
async function expectRefusedAtCommit(work: (client: PoolClient) => Promise<unknown>) {
  let isDone = false
  const refused = transaction(async (client) => {
    await work(client)
    isDone = true
  })
  await expect(refused).rejects.toThrow('the ledger says')
  expect(isDone).toBe(true)
}

/** Writes the next version of an order with SQL, without its ledger entries. */
function overwrite(client: PoolClient, order: Order, to: Order) {
  const columns = columnsOf({ ...to, id: order.id })
  return client.query(
    `update orders set version = version + 1, state = $2, refund_state = $3, outcome = $4,
       refund_transaction_hash = $5, delivery = $6, doc = $7, settlement = $8,
       finished_at = case when $9::boolean then now() end,
       due_at = case when $9::boolean then null else now() end
     where id = $1`,
    [
      order.id,
      columns.state,
      columns.refundState,
      columns.outcome,
      columns.refundTransactionHash,
      columns.delivery,
      columns.doc,
      columns.settlement,
      columns.isFinished,
    ],
  )
}

function book(client: PoolClient, order: Order, seq: number, entries: readonly Entry[]) {
  return client.query(
    `insert into ledger (order_id, seq, account, amount, at)
     select $1, $2, account, amount, now()
     from unnest($3::text[], $4::numeric[]) as entry (account, amount)`,
    [
      order.id,
      seq,
      entries.map(({ account }) => account),
      entries.map(({ amount }) => amount.toString()),
    ],
  )
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

const asked = () => fulfilling(paid(pending()))
const waiting = () => live(wayTo(asked()))

describe('the ledger', () => {
  const steps: readonly (readonly [string, () => readonly Order[]])[] = [
    ['a payment', () => wayTo(paid(pending()))],
    ['a delivery', () => wayTo(fulfilled(asked()))],
    ['a refund', () => wayTo(refunded(failed(asked())))],
    ['a loss', () => wayTo({ ...failed(asked()), settlement: 'LOST' })],
  ]

  it.each(steps)('must have its entries when the move of %s is committed', async (_, way) => {
    const life = way()
    const to = life.at(-1) as Order
    const order = await live(life.slice(0, -1))
    await expectRefusedAtCommit((client) => overwrite(client, order, to))
    expect(await bookedOf(order)).toEqual(balancesByAccount(order))
  })

  it.each(steps)('takes no other entries for %s', async (_, way) => {
    const life = way()
    const to = life.at(-1) as Order
    const order = await live(life.slice(0, -1))
    const right = entriesOf(order, to)
    const wrongs: readonly (readonly Entry[])[] = [
      right.map(({ account, amount }) => ({ account, amount: amount + (amount > 0n ? 1n : -1n) })),
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
  })

  it.each(steps)('takes the move and the entries of %s in one transaction', async (_, way) => {
    const life = way()
    const to = life.at(-1) as Order
    const order = await live(life.slice(0, -1))
    // The order of the two writes does not matter: the books are checked at the commit.
    await transaction(async (client) => {
      await book(client, order, order.version + 1, entriesOf(order, to))
      await overwrite(client, order, to)
    })
    expect(await bookedOf(order)).toEqual(balancesByAccount(to))
  })

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

  it.each([
    `settlement = 'LOST', doc = jsonb_set(doc, '{settlement}', '"LOST"')`,
    `state = 'FULFILLED', outcome = 'DELIVER', doc = jsonb_set(doc, '{state}', '"FULFILLED"')`,
    `state = 'PAYMENT_PENDING', settlement = null,
       doc = jsonb_set(doc, '{state}', '"PAYMENT_PENDING"')`,
  ])('refuses a change by hand: %s', async (assignments) => {
    const order = await live(wayTo(assignments.includes('PENDING') ? paid(pending()) : asked()))
    await expectRefusedAtCommit((client) =>
      client.query(`update orders set version = version + 1, ${assignments} where id = $1`, [
        order.id,
      ]),
    )
  })

  it('knows its four accounts and no entry of nothing', async () => {
    const order = await waiting()
    const entry = (account: string, amount: bigint) =>
      transaction((client) => book(client, order, 99, [{ account: account as Account, amount }]))
    await expect(entry('bribes', 1n)).rejects.toThrow('ledger_account_check')
    await expect(entry('open', 0n)).rejects.toThrow('ledger_amount_check')
  })
})

test('after any lives, received is delivered and refunded and open, for each order and for all', async () => {
  const before = await sums()
  // At least one order is delivered, however the others end.
  const orders = [await live(wayTo(fulfilled(asked())))]
  const lives = fc.asyncProperty(anyLife(), async (life) => {
    const order = await live(life)
    expect(await bookedOf(order)).toEqual(balancesByAccount(order))
    orders.push(order)
  })
  await fc.assert(lives, { numRuns: 60 })
  const after = await sums()
  const expected = orders.flatMap(balancesOf).reduce(added, before)
  expect(after).toEqual(expected)
  const { received = 0n, open = 0n, delivered = 0n, refunded: back = 0n } = after
  expect(received + open + delivered + back).toBe(0n)
  expect(after).not.toEqual(before)
})

type Sums = Readonly<Partial<Record<Account, bigint>>>

function added(sums: Sums, { account, amount }: Entry): Sums {
  return { ...sums, [account]: (sums[account] ?? 0n) + amount }
}

async function sums(): Promise<Sums> {
  const { rows } = await pool.query<{ account: Account; sum: string }>(
    'select account, sum(amount)::text as sum from ledger group by account',
  )
  return Object.fromEntries(rows.map(({ account, sum }) => [account, BigInt(sum)]))
}
