import { expect, test } from 'vitest'
import { paymentFailed, pending } from '../../../test/contract/sample-orders.ts'
import { describeWebhooks } from '../../../test/contract/webhooks.ts'
import type { Sealed } from '../../secrets/vault.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createWebhookStore } from './webhooks.ts'

const postgres = migratedPostgres()

describeWebhooks('PostgreSQL', async () => {
  const pools = await postgres.openForTwo()
  const [pool, other] = pools
  return {
    store: createWebhookStore(pool),
    other: createWebhookStore(other),
    orders: createOrderStore(pool),
    async pass(ms) {
      const earlier = `- ${ms} * interval '1 ms'`
      await pool.query(`begin;
        update order_webhooks set opened_at = opened_at ${earlier},
          redelivered_at = redelivered_at ${earlier};
        update webhook_events set at = at ${earlier}, due_at = due_at ${earlier},
          give_up_at = give_up_at ${earlier}, locked_until = locked_until ${earlier};
        commit`)
    },
    async passSinceEnds(ms) {
      // The guard lets nobody change when an order ended, so it is switched off.
      await pool.query(`begin;
        set local session_replication_role = replica;
        update orders set finished_at = finished_at - ${ms} * interval '1 ms';
        commit`)
    },
    async close() {
      await Promise.all(pools.map((one) => one.end()))
    },
  }
})

test('an order that is forgotten takes its webhook along', async () => {
  const pool = await postgres.open()
  const orders = createOrderStore(pool)
  const webhooks = createWebhookStore(pool)
  const order = pending()
  await orders.open(order, [], { webhook: { target: 'sealed' as Sealed, receiver: 'host' } })
  await orders.move(order, paymentFailed(order))
  expect((await webhooks.find(order.id))?.events).toMatchObject([{ type: 'order.payment_failed' }])
  await pool.query(`begin;
    set local session_replication_role = replica;
    update orders set finished_at = finished_at - interval '3 days';
    commit`)
  expect(await orders.forgetNeverPaid(new Date(Date.now() - 86_400_000))).toBe(1)
  const { rows } = await pool.query(
    'select (select count(*) from order_webhooks) + (select count(*) from webhook_events) as kept',
  )
  expect(rows).toEqual([{ kept: '0' }])
})
