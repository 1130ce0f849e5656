import type { Pool } from 'pg'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { asked, orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import { describePayoutLimits } from '../../../test/contract/payout-limits.ts'
import { failed, paid, pending, signed, signedFor } from '../../../test/contract/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import type { In } from '../../orders/order.ts'
import { createCheckoutStore } from './checkouts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits, readPayoutQueue, switchRefunds } from './payouts.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})

/** Makes grants older. Nothing may change them, so their guard is switched off. */
async function makeOlder(database: Pool, ms: number): Promise<void> {
  await database.query(`begin;
    set local session_replication_role = replica;
    update payout_grants set granted_at = granted_at - ${ms} * interval '1 ms';
    commit`)
}

describePayoutLimits('PostgreSQL', async (caps) => {
  const pools = await postgres.openForTwo()
  return {
    orders: createOrderStore(pools[0]),
    payoutLimits: createPayoutLimits(pools[0], caps),
    other: createPayoutLimits(pools[1], caps),
    checkouts: createCheckoutStore(pools[0]),
    switchRefunds: (stopped) => switchRefunds(pools[1], { stopped, by: 'test' }),
    pass: (ms) => makeOlder(pools[0], ms),
    async granted() {
      const { rows } = await pools[1].query<{ amount: string }>('select amount from payout_grants')
      return rows.map(({ amount }) => BigInt(amount))
    },
    async close() {
      await Promise.all(pools.map((each) => each.end()))
    },
  }
})

/** A recorded order whose refund is due. */
async function due(): Promise<In<'FULFILLMENT_FAILED'>> {
  const target = failed(asked())
  const { version } = await orderOnRecord(createOrderStore(pool), target)
  return { ...target, version }
}

const caps = { hour: usdc(10n ** 30n), day: usdc(10n ** 30n) }

describe('a signed refund', () => {
  it('is not taken on record without a grant', async () => {
    const order = await due()
    const store = createOrderStore(pool)
    await expect(store.move(order, signed(order))).rejects.toThrow('its refund was not granted')
    expect(await store.find(order.id)).toEqual(order)
  })

  const wrongs: Readonly<Record<string, object>> = {
    'to somebody else': { to: `0x${'99'.repeat(20)}` },
    'of another amount': { amount: usdc(12_500_001n) },
    'of less': { amount: usdc(1n) },
    'to nobody': { to: undefined },
    'of nothing': { amount: undefined },
  }
  it.each(Object.entries(wrongs))('%s is not taken on record', async (_, wrong) => {
    const order = await due()
    await createPayoutLimits(pool, caps).allow(order.id)
    const store = createOrderStore(pool)
    const payout = { state: 'APPROVED', signed: { ...signedFor(order), ...wrong } } as const
    await expect(store.move(order, { ...order, payout })).rejects.toThrow('goes to the payer')
    expect((await store.move(order, signed(order))).won).toBe(true)
  })
})

test('a grant is of what the order was paid, and of nothing that is not owed', async () => {
  const { id, amount } = await due()
  const grant = (order: string, units: bigint) =>
    pool.query(`insert into payout_grants values ($1, 'refund', $2)`, [order, units.toString()])
  for (const wrong of [1n, amount - 1n, amount + 1n]) {
    await expect(grant(id, wrong)).rejects.toThrow('is not to be granted')
  }
  const sold = await orderOnRecord(createOrderStore(pool), paid(pending()))
  await expect(grant(sold.id, sold.amount)).rejects.toThrow('is not to be granted')
  await grant(id, amount)
})

test('grants are never changed', async () => {
  const { id } = await due()
  await createPayoutLimits(pool, caps).allow(id)
  for (const sql of [
    'update payout_grants set amount = 1',
    'delete from payout_grants',
    'truncate payout_grants',
  ]) {
    await expect(pool.query(sql)).rejects.toThrow('keeps what was written')
  }
})

test('the switch tells who stopped refunds and why, and every turn stays on record', async () => {
  const read = async () => (await readPayoutQueue(pool)).turned
  const stop = { stopped: true, reason: 'The key may have leaked.', by: 'ada@console' }
  await switchRefunds(pool, stop)
  expect(await read()).toMatchObject(stop)
  await switchRefunds(pool, { stopped: false, by: 'bob@console' })
  const then = { stopped: false, reason: null, by: 'bob@console' }
  expect(await read()).toMatchObject(then)
  const { rows } = await pool.query('select *, changed_by as by from refund_switch order by turn')
  expect(rows).toMatchObject([{ stopped: false }, stop, then])
  for (const sql of [
    'delete from refund_switch',
    'truncate refund_switch',
    'update refund_switch set reason = null',
  ]) {
    await expect(pool.query(sql)).rejects.toThrow('keeps what was written')
  }
})
