import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { asked, orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import { failed } from '../../../test/contract/sample-orders.ts'
import { budgetRules } from '../../orders/budgets.ts'
import { claimRefund } from './budgets.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'

const postgres = migratedPostgres()

/** A database connection in a transaction, whose claim others see only after `commit`. */
async function claimedUncommitted(pool: Pool) {
  const holder = await pool.connect()
  await holder.query('begin')
  return {
    database: holder as unknown as Pool,
    async commit() {
      await holder.query('commit')
      holder.release()
    },
  }
}

/** Waits until the request is answered, or waits for an advisory lock. */
async function answeredOrWaiting(pool: Pool, asked: Promise<unknown>): Promise<void> {
  const state = { isAnswered: false }
  const noted = () => {
    state.isAnswered = true
  }
  asked.then(noted, noted)
  await expect
    .poll(async () => {
      const { rows } = await pool.query(
        `select from pg_locks join pg_database on pg_database.oid = database
          where datname = current_database() and locktype = 'advisory' and not granted`,
      )
      return state.isAnswered || rows.length > 0
    })
    .toBe(true)
}

test.each(['order', 'client'] as const)(
  'a claim is not counted before another one of its %s that is being kept',
  async (whose) => {
    const pool = await postgres.open()
    const store = createOrderStore(pool)
    const one = await orderOnRecord(store, failed(asked()))
    const other = whose === 'order' ? one : await orderOnRecord(store, failed(asked()))
    const clientOfOther = whose === 'client' ? 'c' : 'd'
    const usual = budgetRules({ unpaid_payments: 9, failed_orders: 9 })
    const rules = { ...usual, [whose]: { refund_claims: 1 } }

    const first = await claimedUncommitted(pool)
    const kept = { key: 'k1', bodyHash: 'b', client: 'c' }
    expect(await claimRefund(first.database, one, kept, rules)).toBe('fresh')
    const second = claimRefund(
      pool,
      other,
      { key: 'k2', bodyHash: 'b', client: clientOfOther },
      rules,
    )
    await answeredOrWaiting(pool, second)
    await first.commit()

    expect(await second).toMatchObject({ budget: 'refund_claims', whose })
  },
)
