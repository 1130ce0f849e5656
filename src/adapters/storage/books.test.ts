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
import { book, overwrite, transaction } from './by-hand.fixture.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
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

/** Expects that `work` succeeds and the commit is refused. */
async function expectRefusedAtCommit(work: (client: PoolClient) => Promise<unknown>) {
  let isDone = false
  const refused = transaction(pool, async (client) => {
    await work(client)
    isDone = true
  })
  await expect(refused).rejects.toThrow('the ledger says')
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
    await transaction(pool, async (client) => {
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
      transaction(pool, (client) =>
        book(client, order, 99, [{ account: account as Account, amount }]),
      )
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
