import type { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { describePayoutRecord } from '../../../test/contract/payout-record.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createPayoutRecord } from './payouts.ts'

const postgres = migratedPostgres()
let pools: readonly [Pool, Pool]
beforeAll(async () => {
  pools = await postgres.openForTwo()
})

describePayoutRecord('in PostgreSQL', () => ({
  record: createPayoutRecord(pools[0]),
  other: createPayoutRecord(pools[1]),
  pass: (ms) =>
    pools[0].query(
      `update processor_payouts set waits_since = waits_since - $1 * interval '1 ms'`,
      [ms],
    ),
}))

test('is kept by the database too', async () => {
  const record = createPayoutRecord(pools[0])
  await record.keep('ref', { pullPayments: ['P1'], payouts: ['O1'] })
  const change = (sql: string) => expect(pools[0].query(sql)).rejects
  await change(`update processor_payouts set payouts = '{}' where reference = 'ref'`).toThrow(
    'kept',
  )
  await change(`update processor_payouts set reference = 'other'`).toThrow('kept')
  await change('delete from processor_payouts').toThrow()
})
