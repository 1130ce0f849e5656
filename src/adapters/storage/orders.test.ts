import type { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeOrderStore } from '../../../test/contract/order-store.ts'
import { failed, fulfilling, paid, pending, wayTo } from '../../../test/contract/sample-orders.ts'
import { onChain } from '../../../test/doubles/orders.ts'
import { usdc } from '../../lib/money.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { breakingOnce } from './breaking.fixture.ts'
import { createApprovalStore, createLimitStore } from './limits.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

const postgres = migratedPostgres()
let pool: Pool
let store: OrderStore

beforeAll(async () => {
  pool = await postgres.open()
  store = createOrderStore(pool)
})

const endlessCaps = { hour: usdc(10n ** 50n), day: usdc(10n ** 50n) }

describeOrderStore('PostgreSQL', async () => {
  const pools = await postgres.openForTwo()
  return {
    store: createOrderStore(pools[0]),
    other: createOrderStore(pools[1]),
    limits: createLimitStore(pools[1]),
    approvals: createApprovalStore(pools[1]),
    endLease: async (id) => {
      await pools[0].query('update orders set locked_until = now() where id = $1', [id])
    },
    grant: async (id) => {
      expect(await createPayoutLimits(pools[0], endlessCaps).allow(id)).toBe('granted')
    },
    pass: async (ms) => {
      // The guard lets nobody change when an order ended, so it is switched off.
      await pools[0].query(`begin;
        set local session_replication_role = replica;
        update orders set due_at = due_at - ${ms} * interval '1 ms',
          locked_until = locked_until - ${ms} * interval '1 ms',
          finished_at = finished_at - ${ms} * interval '1 ms';
        update ledger set at = at - ${ms} * interval '1 ms';
        update refund_claims set created_at = created_at - ${ms} * interval '1 ms';
        commit`)
    },
    close: async () => {
      // The upper bound must hold whatever happened to the orders.
      const { rows } = await pools[0].query(
        'select amount >= (select coalesce(sum(amount), 0) from at_risk()) as holds from most_at_risk',
      )
      await Promise.all(pools.map((each) => each.end()))
      expect(rows).toEqual([{ holds: true }])
    },
  }
})

describe('a write whose answer is lost', () => {
  it('opens an order if it was committed', async () => {
    const order = pending()
    const opened = await createOrderStore(breakingOnce(pool, 'after')).open(order, ['lost'])
    expect(opened).toEqual({ isNew: true, order })
    expect((await store.open(order, ['lost'])).isNew).toBe(false)
  })

  it('is an error if the order is not there', async () => {
    const order = pending()
    const opened = createOrderStore(breakingOnce(pool, 'before')).open(order, [])
    await expect(opened).rejects.toThrow('terminated')
    expect(await store.find(order.id)).toBeUndefined()
  })

  it("is not taken for the opening of somebody else's order", async () => {
    const first = pending()
    await store.open(first, [])
    const second = pending({ tender: first.tender })
    const opened = await createOrderStore(breakingOnce(pool, 'before')).open(second, [])
    expect(opened).toEqual({ isNew: false, order: first })
  })

  it('wins a move if it was committed', async () => {
    const order = pending()
    await store.open(order, [])
    const moved = await createOrderStore(breakingOnce(pool, 'after')).move(order, paid(order))
    expect(moved).toMatchObject({ won: true, record: { state: 'PAID', version: 2 } })
    expect(await store.find(order.id)).toEqual(moved.record)
  })

  it('is an error while the order is still as it was', async () => {
    const order = pending()
    await store.open(order, [])
    const moved = createOrderStore(breakingOnce(pool, 'before')).move(order, paid(order))
    await expect(moved).rejects.toThrow('terminated')
    expect(await store.find(order.id)).toEqual(order)
  })

  it('loses a move that another won', async () => {
    const order = pending()
    await store.open(order, [])
    const { record: winner } = await store.move(order, paid(order))
    const moved = await createOrderStore(breakingOnce(pool, 'before')).move(order, paid(order))
    expect(moved).toEqual({ won: false, record: winner })
  })
})

describe('the tables', () => {
  it('hold no trace of an opening whose key was taken', async () => {
    await store.open(pending(), ['taken'])
    const counts = () =>
      Promise.all(
        ['payments', 'orders', 'idempotency_keys', 'order_events'].map(
          async (table) => (await pool.query(`select count(*) from ${table}`)).rows[0].count,
        ),
      )
    const before = await counts()
    await store.open(pending(), ['free', 'taken'])
    expect(await counts()).toEqual(before)
  })

  it('keep the history of an order, without words that others wrote', async () => {
    const asking = fulfilling(paid(pending()))
    const [first, ...rest] = wayTo(failed(asking))
    await store.open(first as typeof first & { state: 'PAYMENT_PENDING' }, [])
    let order = first as NonNullable<typeof first>
    for (const next of rest) order = (await store.move(order, next)).record
    const { rows } = await pool.query(
      'select seq, state, payout_state, detail from order_events where order_id = $1 order by seq',
      [order.id],
    )
    const { transaction, block } = onChain(asking.receipt)
    const reason = { trigger: 'fulfillment_failed', code: 'E7', supply: 'NONE' }
    expect(rows).toEqual([
      { seq: 1, state: 'PAYMENT_PENDING', payout_state: null, detail: {} },
      { seq: 2, state: 'PAID', payout_state: null, detail: { transaction, block } },
      { seq: 3, state: 'FULFILLING', payout_state: null, detail: { transaction, block } },
      { seq: 4, state: 'FULFILLMENT_FAILED', payout_state: 'DUE', detail: reason },
    ])
  })

  it('have the sealed fields in their own columns only', async () => {
    const order = pending()
    await store.open(order, [])
    const { rows } = await pool.query('select recipient, doc::text from orders where id = $1', [
      order.id,
    ])
    expect(rows[0].recipient).toBe(order.recipient)
    expect(rows[0].doc).not.toContain(order.recipient)
  })
})
