import type { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../../../sandbox/postgres/test-postgres.ts'
import { describeCheckoutStore } from '../../../test/contract/checkout-store.ts'
import { usdc } from '../../primitives/money.ts'
import { createCheckoutStore } from './checkouts.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { createOrderStore } from './orders.ts'

let postgres: TestPostgres
let template: string

function connect(url: string): Pool {
  return openDatabase(url, {
    applicationName: 'test',
    poolSize: 8,
    onError: (error) => {
      throw error
    },
  })
}

beforeAll(async () => {
  postgres = await startTestPostgres()
  template = await postgres.createDatabase()
  const first = connect(template)
  await migrate(first)
  await first.end()
})

afterAll(() => postgres.stop())

const endlessCaps = { hour: usdc(10n ** 50n), day: usdc(10n ** 50n) }

describeCheckoutStore('PostgreSQL', async () => {
  const url = await postgres.createDatabase(template)
  const pools = [connect(url), connect(url)] as const
  return {
    store: createCheckoutStore(pools[0], endlessCaps),
    other: createCheckoutStore(pools[1], endlessCaps),
    orders: createOrderStore(pools[0]),
    endLease: async (id) => {
      await pools[0].query('update checkouts set locked_until = now() where id = $1', [id])
    },
    pass: async (ms) => {
      await pools[0].query(
        `update checkouts set due_at = due_at - $1 * interval '1 ms',
           locked_until = locked_until - $1 * interval '1 ms'`,
        [ms],
      )
    },
    close: async () => {
      await Promise.all(pools.map((each) => each.end()))
    },
  }
})
