import { describeCheckoutStore } from '../../../test/contract/checkout-store.ts'
import { usdc } from '../../lib/money.ts'
import { createCheckoutStore } from './checkouts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

const postgres = migratedPostgres()

const endlessCaps = { hour: usdc(10n ** 50n), day: usdc(10n ** 50n) }

describeCheckoutStore('PostgreSQL', async () => {
  const pools = await postgres.openForTwo()
  return {
    store: createCheckoutStore(pools[0]),
    other: createCheckoutStore(pools[1]),
    orders: createOrderStore(pools[0]),
    payoutLimits: createPayoutLimits(pools[0], endlessCaps),
    endLease: async (id) => {
      await pools[0].query('update checkouts set locked_until = now() where id = $1', [id])
    },
    pass: async (ms) => {
      // The triggers let nobody change when a checkout was closed.
      await pools[0].query(
        `alter table checkouts disable trigger user;
         update checkouts set due_at = due_at - interval '${ms} ms',
           locked_until = locked_until - interval '${ms} ms',
           finished_at = finished_at - interval '${ms} ms';
         alter table checkouts enable trigger user`,
      )
    },
    close: async () => {
      await Promise.all(pools.map((each) => each.end()))
    },
  }
})
