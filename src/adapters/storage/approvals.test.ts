import { describeApprovals } from '../../../test/contract/approvals.ts'
import { createApprovalStore } from './limits.ts'
import { migratedPostgres } from './migrated.fixture.ts'

const postgres = migratedPostgres()

describeApprovals('PostgreSQL', async () => {
  const pools = await postgres.openForTwo()
  return {
    store: createApprovalStore(pools[0]),
    other: createApprovalStore(pools[1]),
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
})
