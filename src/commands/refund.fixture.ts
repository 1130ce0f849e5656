import type { Pool } from 'pg'
import { beforeEach } from 'vitest'
import { readActs } from '../adapters/storage/audit.ts'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { usdc } from '../lib/money.ts'
import type { Operator } from '../operator/operator.ts'
import type { Context } from './act.ts'
import { refund } from './refund.ts'

const { hour, day } = { hour: usdc(50_000_000n), day: usdc(80_000_000n) }

/** The refunds command of ada@console, on a new database for each test. */
export function refundsCommand(caps = { hour, day }) {
  const postgres = migratedPostgres()
  let database: Pool
  beforeEach(async () => {
    database = await postgres.open()
    return () => database.end()
  })
  const orders = () => createOrderStore(database)
  const checkouts = () => createCheckoutStore(database)
  const runOn = async (pool: Pool, ...args: readonly string[]) => {
    const operator = { database: pool, by: 'ada', now: () => new Date() }
    const as = { ...operator, config: { refundCaps: caps } } as Operator
    const context = { withOperator: (work) => work(as) } as Context
    const { exit, lines } = await refund.run(args, context)
    return { isDone: exit === 0, lines }
  }
  const run = (...args: readonly string[]) => runOn(database, ...args)
  return {
    ...{ caps, orders, checkouts, run, runOn },
    database: () => database,
    /** What the audit has: by whom, the act and its subject, the first one first. */
    audit: async () =>
      (await readActs(database, { limit: 50 }))
        .map(({ by, act, subject }) => [by, act, subject])
        .reverse(),
    records: () => ({ store: checkouts(), orders: orders() }),
    /** What the command says. */
    says: async (...args: readonly string[]) => (await run(...args)).lines.join('\n'),
  }
}
