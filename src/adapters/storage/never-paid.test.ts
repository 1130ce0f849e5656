import { expect, test } from 'vitest'
import { asked, expectWon, orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import { failed, paid, paymentFailed, pending } from '../../../test/contract/sample-orders.ts'
import type { Order } from '../../orders/order.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'

const postgres = migratedPostgres()

/** An order whose payment was seen, was dropped from the chain, and can never land again. */
async function vanished(store: OrderStore): Promise<Order> {
  const first = pending()
  const seen = await orderOnRecord(store, paid(first))
  const unpaid = expectWon(await store.move(seen, { ...first, version: seen.version }))
  return expectWon(await store.move(unpaid, paymentFailed(first)))
}

test('forgets an order whose payment never was a day after its end, with all its rows', async () => {
  const pool = await postgres.open()
  const store = createOrderStore(pool)
  const { id } = await orderOnRecord(store, paymentFailed(pending()))
  const kept = async () => {
    const { rows } = await pool.query(
      `select (select count(*) from orders where id = $1) + (select count(*) from payments where order_id = $1)
        + (select count(*) from order_events where order_id = $1) as rows`,
      [id],
    )
    return Number(rows[0].rows)
  }
  expect(await store.forgetNeverPaid(new Date())).toBe(0)
  await pool.query(`begin;
    set local session_replication_role = replica;
    update orders set finished_at = now() - interval '2 days', due_at = null where id = '${id}';
    commit`)
  expect(await kept()).toBeGreaterThan(2)
  expect(await store.forgetNeverPaid(new Date(Date.now() - 86_400_000))).toBe(1)
  expect(await kept()).toBe(0)
})

test('lets nobody delete anything else', async () => {
  const pool = await postgres.open()
  const store = createOrderStore(pool)
  const young = await orderOnRecord(store, paymentFailed(pending()))
  const paidBack = await orderOnRecord(store, failed(asked()))
  const lost = await vanished(store)
  await pool.query(`begin;
    set local session_replication_role = replica;
    update orders set finished_at = now() - interval '2 days', due_at = null
      where id in ('${paidBack.id}', '${lost.id}');
    commit`)
  for (const { id } of [young, paidBack, lost]) {
    for (const sql of [
      'delete from order_events where order_id = $1',
      'delete from payments where order_id = $1',
      'delete from orders where id = $1',
    ]) {
      await expect(pool.query(sql, [id]), sql).rejects.toThrow('keeps what was written')
    }
  }
  for (const table of ['orders', 'payments', 'order_events']) {
    await expect(pool.query(`truncate ${table} cascade`)).rejects.toThrow('keeps what was written')
  }
  expect(await store.forgetNeverPaid(new Date('2100-01-01T00:00:00Z'))).toBe(0)
})
